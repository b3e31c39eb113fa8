// Laws of the evaluators, over random orders: event evaluation is the longest path of the explicit graph, the dry run
// finds a cycle exactly when that graph has one, the period is the largest cycle ratio.

#include "core/program/order_makespan.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <random>

#include "core/cost/pipeline_time.h"
#include "core/program/cycle_ratio.h"
#include "tests/catch.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

using Arrow = boost::property<boost::edge_weight_t, std::int64_t>;
using Dag = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arrow>;

class Random {
 public:
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }
  Picoseconds time(std::int32_t low, std::int32_t high) { return Picoseconds(between(low, high)); }

  /// All forwards, then backwards, whole or split; then `swaps` exchanges of neighbours on each rank.
  ComputeSchedule schedule(int swaps) {
    const bool v_shaped = between(0, 2) == 0;
    const PipelineShape shape{between(2, 4), v_shaped ? 2 : between(1, 2), between(1, 4)};
    ComputeSchedule result{shape, v_shaped ? StagePlacement::v_shaped : StagePlacement::looped, {}};
    for (std::int32_t rank = 0; rank < shape.pipeline_stages; ++rank) {
      RankOrder& order = result.ranks.emplace_back();
      for (std::int32_t c = 0; c < shape.virtual_stages; ++c)
        for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::forward, c, i});
      for (std::int32_t c = shape.virtual_stages; c-- > 0;)
        for (std::int32_t i = 0; i < shape.micro_batches; ++i) add_backward(order, c, i);
      for (int n = 0; n < swaps; ++n) {
        const auto at = static_cast<std::size_t>(between(0, static_cast<std::int32_t>(order.size()) - 2));
        std::swap(order[at], order[at + 1]);
      }
    }
    return result;
  }
  StageTimes times(const PipelineShape& shape) {
    StageTimes t;
    for (std::int32_t s = 0; s < shape.stages(); ++s) {
      t.forward.push_back(time(1, 9));
      t.backward_input.push_back(time(1, 9));
      t.backward_weight.push_back(time(0, 9));
      if (s > 0) t.latency.push_back(time(0, 5));
    }
    return t;
  }

 private:
  void add_backward(RankOrder& order, std::int32_t chunk, std::int32_t i) {
    if (between(0, 1) == 0) {
      order.push_back({ActionKind::backward, chunk, i});
    } else {
      order.push_back({ActionKind::backward_input, chunk, i});
      order.push_back({ActionKind::backward_weight, chunk, i});
    }
  }
  std::mt19937 engine_{20240610};
};

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

TEST_CASE("the dry run stops exactly when the dependencies have a cycle, and names a true one") {
  Random random;
  int stuck = 0;
  for (int n = 0; n < 4000; ++n) {
    const ComputeSchedule schedule = random.schedule(random.between(0, 4));
    const ExplicitGraph explicit_graph(schedule, random.times(schedule.shape));
    const PlayOrder play = play_order(schedule);
    INFO(to_schedule_csv(schedule));
    REQUIRE_FALSE(action_fault(schedule));
    REQUIRE(play.deadlock.has_value() == explicit_graph.has_cycle());
    if (!play.deadlock) continue;
    ++stuck;
    const std::vector<Wait>& cycle = play.deadlock->cycle;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Wait& next = cycle[(i + 1) % cycle.size()];
      REQUIRE(cycle[i].needed.rank == next.waiting.rank);
      REQUIRE(cycle[i].needed.position >= next.waiting.position);
    }
  }
  CHECK(stuck > 400);
  CHECK(stuck < 3600);
}

TEST_CASE("event evaluation is the longest path, and the period the largest cycle ratio") {
  Random random;
  int played = 0;
  for (int n = 0; n < 6000; ++n) {
    const ComputeSchedule schedule = random.schedule(random.between(0, 4));
    const StageTimes times = random.times(schedule.shape);
    const PlayOrder play = play_order(schedule);
    if (play.deadlock) continue;
    ++played;
    const ExplicitGraph explicit_graph(schedule, times);
    INFO(to_schedule_csv(schedule));
    std::int64_t longest = 0;
    for (const auto& end : explicit_graph.ends(explicit_graph.first)) longest = std::max(longest, end.value_or(0));
    REQUIRE(order_timing(play, times).makespan().value() == longest);
    // A cycle of k ranks closes over k steps: brute force over simple cycles of at most 4 ranks.
    const std::size_t ranks = schedule.ranks.size();
    std::vector<std::vector<std::optional<std::int64_t>>> paths;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto ends = explicit_graph.ends({explicit_graph.first[r]});
      auto& row = paths.emplace_back();
      for (std::size_t to = 0; to < ranks; ++to) row.push_back(ends[explicit_graph.last[to]]);
    }
    CycleRatio largest;
    std::vector<std::size_t> chosen(ranks);
    for (std::size_t r = 0; r < ranks; ++r) chosen[r] = r;
    do {
      std::int64_t total = 0;
      for (std::size_t k = 0; k < ranks; ++k) {
        if (k > 0) {
          if (!paths[chosen[k - 1]][chosen[k]]) break;
          total += *paths[chosen[k - 1]][chosen[k]];
        }
        const auto& back = paths[chosen[k]][chosen[0]];
        const auto arcs = static_cast<std::int64_t>(k) + 1;
        if (back && is_smaller_fraction(largest.total, largest.arcs, total + *back, arcs))
          largest = {total + *back, arcs};
      }
    } while (std::next_permutation(chosen.begin(), chosen.end()));
    const Period period = period_without_barrier(schedule, times);
    REQUIRE(period.total.value() * largest.arcs == largest.total * period.steps);
    REQUIRE(period.picoseconds() <= static_cast<double>(longest));
  }
  CHECK(played > 1500);
}

TEST_CASE("closed forms of the plan are the evaluated orders where their header says so") {
  Random random;
  for (int n = 0; n < 2000; ++n) {
    const std::int32_t p = random.between(2, 6);
    const std::int32_t m = random.between(1, 14);
    const PipelineShape shape{p, 1, m};
    StageTimes t = random.times(shape);
    std::vector<Picoseconds> backward;
    for (std::size_t s = 0; s < t.forward.size(); ++s) backward.push_back(t.backward_input[s] + t.backward_weight[s]);
    const PipelineTimes times{t.forward, backward, t.latency, {}};
    for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b}) {
      INFO(to_text(schedule) << ", p " << p << ", m " << m);
      REQUIRE(pipeline_makespan(schedule, times, m, 1) == order_makespan(compute_schedule(schedule, shape), t));
    }
    const std::int32_t v = random.between(2, 4);
    const PipelineShape looped{p, v, p * random.between(1, 3)};
    const StageTimes chunks =
        equal_stages(looped.stages(), t.forward[0], t.backward_input[0], t.backward_weight[0], Picoseconds(0));
    const std::vector<Picoseconds> f(static_cast<std::size_t>(p), std::int64_t{v} * t.forward[0]);
    const std::vector<Picoseconds> b(static_cast<std::size_t>(p), std::int64_t{v} * backward[0]);
    const std::vector<Picoseconds> none(static_cast<std::size_t>(p - 1));
    REQUIRE(pipeline_makespan(Schedule::interleaved, {f, b, none, {}}, looped.micro_batches, v) ==
            order_makespan(compute_schedule(Schedule::interleaved, looped), chunks));
  }
}

}  // namespace
}  // namespace plumbline
