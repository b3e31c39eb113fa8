#include "planner/checkpointing/minimum_cut.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cstdlib>

namespace plumbline {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Edge = Traits::edge_descriptor;
struct EdgeFlow {
  std::int64_t capacity = 0;
  std::int64_t residual = 0;
  Edge reverse;
};
using FlowNetwork = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeFlow>;

void add_arc(FlowNetwork& network, const CutArc& arc) {
  const auto from = static_cast<std::size_t>(arc.from);
  const auto to = static_cast<std::size_t>(arc.to);
  const Edge there = boost::add_edge(from, to, network).first;
  const Edge back = boost::add_edge(to, from, network).first;
  network[there] = {arc.capacity, 0, back};
  network[back] = {0, 0, there};
}

std::vector<bool> reachable(const FlowNetwork& network, std::size_t source) {
  std::vector<bool> seen(boost::num_vertices(network), false);
  std::vector<std::size_t> stack{source};
  seen[source] = true;
  while (!stack.empty()) {
    const std::size_t vertex = stack.back();
    stack.pop_back();
    for (const Edge edge : boost::make_iterator_range(boost::out_edges(vertex, network))) {
      const std::size_t next = boost::target(edge, network);
      if (seen[next] || network[edge].residual == 0) continue;
      seen[next] = true;
      stack.push_back(next);
    }
  }
  return seen;
}

}  // namespace

std::vector<bool> minimum_cut(std::int32_t vertices, const std::vector<CutArc>& arcs, std::int32_t source,
                              std::int32_t sink) {
  FlowNetwork network(static_cast<std::size_t>(vertices));
  for (const CutArc& arc : arcs) add_arc(network, arc);
  const auto from = static_cast<std::size_t>(source);
  boost::push_relabel_max_flow(network, from, static_cast<std::size_t>(sink),
                               boost::capacity_map(boost::get(&EdgeFlow::capacity, network))
                                   .residual_capacity_map(boost::get(&EdgeFlow::residual, network))
                                   .reverse_edge_map(boost::get(&EdgeFlow::reverse, network))
                                   .vertex_index_map(boost::get(boost::vertex_index, network)));
  return reachable(network, from);
}

std::vector<bool> minimum_closure(const ClosureProblem& problem) {
  const auto variables = static_cast<std::int32_t>(problem.weights.size());
  const std::int32_t source = variables;
  const std::int32_t sink = variables + 1;
  std::int64_t infinite = 1;
  for (const std::int64_t weight : problem.weights) infinite += std::abs(weight);
  std::vector<CutArc> arcs;
  for (std::int32_t v = 0; v < variables; ++v) {
    const std::int64_t weight = problem.weights[static_cast<std::size_t>(v)];
    const Fixed fixed = problem.fixed[static_cast<std::size_t>(v)];
    if (weight > 0) arcs.push_back({v, sink, weight});
    if (weight < 0) arcs.push_back({source, v, -weight});
    if (fixed == Fixed::chosen) arcs.push_back({source, v, infinite});
    if (fixed == Fixed::refused) arcs.push_back({v, sink, infinite});
  }
  for (const auto& [first, second] : problem.implications) arcs.push_back({first, second, infinite});
  std::vector<bool> side = minimum_cut(variables + 2, arcs, source, sink);
  side.resize(problem.weights.size());
  return side;
}

}  // namespace plumbline
