#include "core/graph/block_topology.h"

#include <boost/graph/topological_sort.hpp>

namespace plumbline {

BlockTopology block_topology(const std::vector<Op>& ops, std::size_t tensor_count) {
  std::vector<OpId> producer(tensor_count);
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const TensorId output : ops[i].outputs)
      producer[static_cast<std::size_t>(output.index())] = OpId(static_cast<std::int32_t>(i));
  BlockTopology topology(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const TensorId input : ops[i].inputs)
      if (const OpId from = producer[static_cast<std::size_t>(input.index())]; from.is_valid())
        boost::add_edge(static_cast<std::size_t>(from.index()), i, FlowEdge{input}, topology);
  return topology;
}

std::optional<std::vector<OpId>> topological_order(const BlockTopology& topology) {
  std::vector<std::size_t> reversed;
  try {
    boost::topological_sort(topology, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    return std::nullopt;
  }
  // Boost's order is a valid one; ours also keeps the order of construction wherever the flow allows it, so that
  // programs, pictures and golden files do not depend on the library's traversal.
  std::vector<std::size_t> waiting(boost::num_vertices(topology));
  std::vector<std::size_t> ready;
  for (std::size_t v = 0; v < waiting.size(); ++v) {
    waiting[v] = boost::in_degree(v, topology);
    if (waiting[v] == 0) ready.push_back(v);
  }
  std::vector<OpId> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const auto next = std::min_element(ready.begin(), ready.end());
    const std::size_t vertex = *next;
    ready.erase(next);
    order.emplace_back(static_cast<std::int32_t>(vertex));
    for (const auto edge : boost::make_iterator_range(boost::out_edges(vertex, topology)))
      if (--waiting[boost::target(edge, topology)] == 0) ready.push_back(boost::target(edge, topology));
  }
  return order;
}

}  // namespace plumbline
