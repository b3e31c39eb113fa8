#pragma once
/// \file explicit_graph.h: a schedule's dependencies as a graph, written down without the evaluators under test.

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <optional>
#include <tuple>

#include "core/program/order_makespan.h"

namespace plumbline {

using Arrow = boost::property<boost::edge_weight_t, std::int64_t>;
using Dag = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arrow>;

/// The schedule's dependencies, written down without the evaluator: a vertex per action; an arrow weighs what its
/// source takes and the latency to its target.
struct ExplicitGraph {
  Dag graph;
  std::vector<std::int64_t> duration;
  std::vector<std::size_t> first;  // per rank
  std::vector<std::size_t> last;

  ExplicitGraph(const ComputeSchedule& s, const StageTimes& t) {
    std::map<std::tuple<char, std::int32_t, std::int32_t>, std::size_t> made;  // F or B, stage, micro-batch
    std::vector<std::tuple<ActionKind, std::int32_t, std::int32_t>> actions;
    for (std::size_t r = 0; r < s.ranks.size(); ++r) {
      first.push_back(actions.size());
      for (const ComputeAction& a : s.ranks[r]) {
        const std::int32_t stage = s.stage(static_cast<std::int32_t>(r), a.chunk);
        if (a.kind == ActionKind::forward) made[{'F', stage, a.micro_batch}] = actions.size();
        if (a.kind == ActionKind::backward || a.kind == ActionKind::backward_input)
          made[{'B', stage, a.micro_batch}] = actions.size();
        actions.emplace_back(a.kind, stage, a.micro_batch);
        const auto i = static_cast<std::size_t>(stage);
        std::int64_t time = 0;
        if (a.kind == ActionKind::forward) time = t.forward[i].value();
        if (a.kind == ActionKind::backward || a.kind == ActionKind::backward_input) time += t.backward_input[i].value();
        if (a.kind == ActionKind::backward || a.kind == ActionKind::backward_weight)
          time += t.backward_weight[i].value();
        duration.push_back(time);
      }
      last.push_back(actions.size() - 1);
    }
    for (std::size_t i = 0; i < actions.size(); ++i) boost::add_vertex(graph);
    const auto add = [&](std::size_t from, std::size_t to, std::int64_t latency) {
      boost::add_edge(from, to, Arrow(duration[from] + latency), graph);
    };
    for (std::size_t r = 0; r < first.size(); ++r)
      for (std::size_t i = first[r]; i < last[r]; ++i) add(i, i + 1, 0);
    const auto hop = [&](std::int32_t boundary) {
      return s.rank_of(boundary) == s.rank_of(boundary + 1) ? 0 : t.latency[static_cast<std::size_t>(boundary)].value();
    };
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const auto& [kind, stage, m] = actions[i];
      const bool is_last = stage + 1 == s.shape.stages();
      if (kind == ActionKind::backward_weight) add(made.at({'B', stage, m}), i, 0);
      if (kind == ActionKind::forward && stage > 0) add(made.at({'F', stage - 1, m}), i, hop(stage - 1));
      if (kind != ActionKind::backward && kind != ActionKind::backward_input) continue;
      if (is_last) add(made.at({'F', stage, m}), i, 0);
      if (!is_last) add(made.at({'B', stage + 1, m}), i, hop(stage));
    }
  }

  [[nodiscard]] bool has_cycle() const {
    std::vector<int> component(boost::num_vertices(graph));
    for (const auto edge : boost::make_iterator_range(boost::edges(graph)))
      if (boost::source(edge, graph) == boost::target(edge, graph)) return true;
    return boost::strong_components(graph, component.data()) < static_cast<int>(component.size());
  }
  /// Ends by vertex of the longest paths from `sources`, each starting at 0; nothing where none leads.
  [[nodiscard]] std::vector<std::optional<std::int64_t>> ends(const std::vector<std::size_t>& sources) const {
    std::vector<std::size_t> order;
    boost::topological_sort(graph, std::back_inserter(order));
    std::vector<std::optional<std::int64_t>> starts(duration.size());
    for (const std::size_t source : sources) starts[source] = 0;
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      if (!starts[*v]) continue;
      for (const auto edge : boost::make_iterator_range(boost::out_edges(*v, graph))) {
        auto& target = starts[boost::target(edge, graph)];
        target = std::max(target.value_or(0), *starts[*v] + boost::get(boost::edge_weight, graph, edge));
      }
    }
    for (std::size_t v = 0; v < starts.size(); ++v)
      if (starts[v]) *starts[v] += duration[v];
    return starts;
  }
};

}  // namespace plumbline
