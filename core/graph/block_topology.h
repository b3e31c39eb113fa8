#pragma once
/// \file block_topology.h: a block as a Boost graph: one vertex per op, one edge per tensor that flows between two.

#include <boost/graph/adjacency_list.hpp>
#include <optional>
#include <vector>

#include "core/graph/block.h"

namespace plumbline {

struct FlowEdge {
  TensorId tensor;
};
using BlockTopology =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, FlowEdge>;

[[nodiscard]] BlockTopology block_topology(const std::vector<Op>& ops, std::size_t tensor_count);
/// Ops with producers first, ties by index; nothing when the ops form a cycle.
[[nodiscard]] std::optional<std::vector<OpId>> topological_order(const BlockTopology& topology);

}  // namespace plumbline
