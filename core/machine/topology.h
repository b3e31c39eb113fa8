#pragma once
/// \file topology.h: where the ranks of a group sit: how many share a node, what they cross, whom they share NICs with.
///
/// Model: ranks are numbered densely over devices, device by device and node by node. Groups of one kind tile the
/// ranks: `size` ranks, `stride` apart, in blocks of size * stride. "Node" is what NCCL takes for one: the NVLink
/// domain (72 devices on NVL72), else the server. Where a group straddles nodes unevenly the worst group counts: the
/// most nodes, the busiest node's groups, the fewest ranks that a group has in a node. Pairs of pipeline stages do not
/// tile the ranks: each boundary between two stages is inside a node or crosses its edge by itself (stages_span).
/// Not modelled: rank orders other than dense, rail-optimised wiring, a group that skips devices.
/// Checked against: tests/unit/core/machine/topology_test.cpp, every rank list written out.

#include <cstdint>

#include "core/machine/cluster.h"

namespace plumbline {

/// One kind of group on one cluster.
struct GroupSpan {
  std::int32_t ranks = 1;
  std::int32_t nodes = 1;           ///< domains that the worst-placed group touches
  std::int32_t ranks_per_node = 1;  ///< ranks / nodes, rounded up
  std::int32_t node_devices = 1;    ///< devices of the job in one domain
  /// Groups of this kind that leave the busiest domain, this one included: they share its NICs. 1 inside one domain.
  std::int32_t sharing_groups = 1;
  std::int32_t least_ranks_per_node = 1;  ///< of a group that leaves a domain: the fewest that it has in one
  /// Pairs of a rank inside a domain and one of its group outside of it: of the group and domain that have most.
  std::int64_t crossing_pairs = 0;
  std::int32_t level = -1;      ///< index of the highest network level crossed; -1 inside one domain
  double oversubscription = 1;  ///< the worst of the levels crossed
  Seconds level_latency{0};     ///< of the levels crossed, one way

  bool operator==(const GroupSpan&) const = default;
  [[nodiscard]] bool crosses_network() const { return nodes > 1; }
};

/// Most boxes of `box` consecutive ranks that any group of (size, stride) touches, over all groups of the tiling.
[[nodiscard]] std::int64_t boxes_touched(std::int64_t size, std::int64_t stride, std::int64_t box);

/// The span of groups of `size` ranks `stride` apart. Pure and total: sizes and strides below 1 count as 1.
[[nodiscard]] GroupSpan group_span(std::int32_t size, std::int32_t stride, const Cluster& cluster);

/// The span of pairs: every rank of one pipeline stage and its counterpart of another, where stages are ranges of
/// `stage_ranks` ranks. All pairs send at once; they cross the network where any of them does, and share a domain's
/// NICs with those that leave or enter it. Pure and total.
[[nodiscard]] GroupSpan stages_span(std::int64_t stage_ranks, std::int32_t stage, std::int32_t other,
                                    const Cluster& cluster);

}  // namespace plumbline
