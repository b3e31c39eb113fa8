#pragma once
/// \file point_to_point.h: send/receive and all-to-all, which NCCL's own model leaves out.
///
/// Answers seconds. Model: rounds * latency + bytes / bandwidth. A rank talks to 8 peers at once, so an all-to-all of n
/// ranks takes ceil((n - 1) / 8) rounds. Inside and between nodes flow at the same time; the slower one counts. All
/// ranks of a node share its NICs equally, and of a group that straddles nodes unevenly the node counts that sends
/// most; one message uses one rank's own NICs. Source: bandwidth as NCCL counts links (nccl_graph.h; 370 of 450 GB/s on
/// H200, nvbandwidth 396); latency 3 to 8 us inside a node (nccl#1259 and nccl-tests reports: 5 assumed), between nodes
/// NCCL's tree step (14 us, Simple); 8 peers: NCCL_MAX_DEV_WORK_P2P_PER_BATCH, src/include/device.h. Not modelled:
/// forwarding through the rank that owns the NIC (PXN), incast, uneven splits (see expert imbalance). Checked against:
/// no published all-to-all curve yet; the bandwidth limits in tests/unit/core/cost.

#include "core/machine/topology.h"

namespace plumbline {

struct PeerTime {
  Seconds latency{0};
  Seconds transfer{0};
};

/// One message between neighbours of the group; every group of the kind sends at once.
[[nodiscard]] PeerTime send_receive_time(Bytes message, const GroupSpan& span, const Cluster& cluster);
/// `bytes`: what one rank holds for all ranks, itself included.
[[nodiscard]] PeerTime all_to_all_time(Bytes bytes, const GroupSpan& span, const Cluster& cluster);

/// Of the rows that tokens choose `chosen` experts with, drawn evenly, the share that crosses when a token is sent once
/// to each node, or inside one node once to each rank, however many of its experts wait there.
[[nodiscard]] double share_sent_once(double chosen, const GroupSpan& span);

}  // namespace plumbline
