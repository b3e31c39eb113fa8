#pragma once
/// \file nccl_model.h: NCCL's own estimate of a collective: what its tuner compares when it chooses an algorithm.
///
/// Answers microseconds. Model: latency + bytes / bandwidth for every algorithm and protocol; the choice is the least.
/// In-switch all-reduce on 4 to 8 devices of a node goes by what its traffic takes of a link, not by NCCL's estimate,
/// which snaps to a ladder of channel speeds and is 11 to 18 % low on 5 to 7 devices (decision 0021).
/// Source: NCCL 2.28.9, src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime; one collective per launch.
/// Not modelled: launch (5 to 10 us of host time), contention, CollNet/SHARP, symmetric-memory kernels, the .85 of
/// plain trees, tuner plugins. Tree bandwidth has NCCL's steps at powers of two, so time is a saw-tooth there.
/// Checked against: tests/reference/nccl_model_test.cpp: NCCL's table for 8 H100 to 0.1; bus bandwidths measured inside
/// a node within 5 %, between nodes within 20 %.

#include <cstdint>

#include "core/cost/nccl_tables.h"
#include "core/machine/node.h"
#include "core/sharding/collective.h"

namespace plumbline::nccl {

/// What NCCL's graph search found. GB/s of one channel, inside a node and between nodes.
struct Graph {
  int channels = 0;
  double intra_gbps = 0;
  double inter_gbps = 0;
};

/// A communicator as the tuner sees it.
struct Communicator {
  int ranks = 1;
  int nodes = 1;
  Generation generation = Generation::ampere;
  CpuVendor cpu_vendor = CpuVendor::intel;
  LinkClass intra_link = LinkClass::nvlink;
  bool has_ll128 = true;     ///< the paths between all ranks keep 128-byte stores whole
  double inter_latency = 0;  ///< us, the network's own beyond the tables
  Graph ring;                ///< trees use the same channels
  Graph nvls;                ///< no channels: no in-switch reduction
  double link_gbps = 0;      ///< of one device to all others of its node

  [[nodiscard]] double ranks_per_node() const { return static_cast<double>(ranks) / nodes; }
};

/// `bandwidth_gbps`: algorithm bandwidth in GB/s (bytes as in collective_cost over time); 0 when NCCL would not do it.
struct Rate {
  double latency_us = 0;
  double bandwidth_gbps = 0;
};

/// The tuner's table entry. Zero for all_to_all and send_receive, which are no collectives to NCCL.
[[nodiscard]] Rate rate(Collective kind, Algorithm algorithm, Protocol protocol, const Communicator& communicator);

/// What a collective waits for, and what it transfers.
struct Time {
  double latency_us = 0;
  double transfer_us = 0;
  [[nodiscard]] double total_us() const { return latency_us + transfer_us; }
};

struct Choice {
  Time time;
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
};

/// One algorithm and protocol with the size-dependent corrections; an infinite transfer when disabled.
[[nodiscard]] Time time(Collective kind, Bytes bytes, Algorithm algorithm, Protocol protocol,
                        const Communicator& communicator);
/// The least of all. Ties go to the first in NCCL's order.
[[nodiscard]] Choice choose(Collective kind, Bytes bytes, const Communicator& communicator);

}  // namespace plumbline::nccl
