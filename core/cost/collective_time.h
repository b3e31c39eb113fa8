#pragma once
/// \file collective_time.h: seconds that one collective takes on the machine, and how NCCL would do it.
///
/// Model: NCCL's own (nccl_model.h) on the graph that it would find (nccl_graph.h); send/receive and all-to-all apart
/// (point_to_point.h). Contention between groups of one kind that share NICs, and oversubscribed levels, are counted.
/// What the cluster's collectives were measured to reach (link_factors.h) scales the time but not the choice, which
/// NCCL makes by its own numbers.
/// Not modelled: launch, overlap with compute, contention between groups of different kinds.
/// Checked against: tests/reference/nccl_model_test.cpp.

#include <string_view>

#include "core/machine/topology.h"
#include "core/sharding/collective.h"

namespace plumbline {

struct CollectiveCost {
  Seconds time;
  std::string_view algorithm;  ///< "ring", "tree", "nvls", "nvls_tree", "pat", "p2p"; "none" among one rank
  std::string_view protocol;   ///< "ll", "ll128", "simple"; "none" likewise
};

/// The same before the cluster's measured factors: its time is latency * latency factor + transfer / bandwidth factor.
struct CollectiveParts {
  Seconds latency{0};
  Seconds transfer{0};
  LinkFactor latency_factor = LinkFactor::node_latency;
  LinkFactor bandwidth_factor = LinkFactor::node_bandwidth;
  std::string_view algorithm = "none";
  std::string_view protocol = "none";
};
[[nodiscard]] CollectiveParts collective_parts(Collective kind, Bytes bytes, const GroupSpan& span,
                                               const Cluster& cluster);

/// `bytes`: the whole (unsharded) buffer: all-reduce: buffer of one rank; all-gather and reduce-scatter: the gathered
/// size (NCCL's nBytes); broadcast: the buffer; all-to-all: bytes that one rank sends in all, itself included;
/// send_receive: the message. Zero bytes or one rank take no time. Pure and total.
[[nodiscard]] CollectiveCost collective_cost(Collective kind, Bytes bytes, const GroupSpan& span,
                                             const Cluster& cluster);

}  // namespace plumbline
