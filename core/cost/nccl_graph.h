#pragma once
/// \file nccl_graph.h: what NCCL's graph search would find on a machine: channels and their speed, per group.
///
/// Model: inside a node the product of channels and a speed of NCCL's ladder is the largest that the links carry
/// (8 A100: 12 x 20 GB/s, 8 H100: 12 x 30); between nodes a channel per NIC at the NIC's rate (8 x 400 Gb/s: 8 x 48).
/// Groups that leave a node by its NICs share their bandwidth equally, and a group uses no more NICs than its ranks in
/// the node have; the oversubscription of the levels crossed divides it. In a mesh (NVLink without switch, xGMI) a
/// group uses only the links among its own ranks. Source: NCCL 2.28.9, src/graph/search.cc and topo.h; reference runs
/// in nccl_model.h. Not modelled: PCIe switches and NUMA, rings that cross an oversubscribed level only once, adaptive
/// routing. AMD, Ethernet and CPU groups use the same formulas with their own bandwidths: RCCL's and Gloo's own tables
/// are not here. Checked against: tests/reference/nccl_model_test.cpp.

#include "core/cost/nccl_model.h"
#include "core/machine/topology.h"

namespace plumbline::nccl {

/// The communicator of a group of this span. Pure and total; a span that crosses a network the cluster lacks gets
/// channels without bandwidth.
[[nodiscard]] Communicator communicator(const GroupSpan& span, const Cluster& cluster);

/// GB/s that NCCL counts on from one rank to its peers inside the node, when `ranks_per_node` take part.
[[nodiscard]] double intra_gbps(const Node& node, std::int32_t ranks_per_node);
/// GB/s out of one node for one group: the node's NICs, shared and oversubscribed.
[[nodiscard]] double inter_gbps(const GroupSpan& span, const Node& node);

}  // namespace plumbline::nccl
