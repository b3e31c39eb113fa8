// Frontiers inside blocks: against all sets of replayed ops, and against the recompute modes of core/cost.

#include "planner/checkpointing/block_frontier.h"

#include <random>

#include "planner/pareto/front.h"
#include "tests/block_choices.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

using Point = std::pair<std::int64_t, std::int64_t>;

/// A random acyclic block: ops with one or two outputs that read earlier values or one of two block inputs.
RecomputeProblem random_problem(std::mt19937& random, std::int32_t ops) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  RecomputeProblem problem;
  for (int i = 0; i < 2; ++i) problem.add_value({"in", Bytes(below(5)), -1, below(3) == 0});
  for (std::int32_t o = 0; o < ops; ++o) {
    RecomputeOp op{"op", Picoseconds(below(20)), {}, {}, below(8) != 0};
    for (std::int64_t i = 0; i <= below(3); ++i)
      op.inputs.push_back(static_cast<std::int32_t>(below(static_cast<std::int64_t>(problem.values.size()))));
    problem.ops.push_back(op);
    for (std::int64_t v = 0; v <= below(2); ++v) problem.add_value({"out", Bytes(below(20)), o, below(2) == 0});
  }
  return problem;
}

std::vector<RecomputeChoice> all_choices(const RecomputeProblem& problem) {
  std::vector<RecomputeChoice> choices;
  for (std::uint32_t set = 0; set < (1U << problem.ops.size()); ++set) {
    std::vector<bool> replayed;
    bool allowed = true;
    for (std::size_t o = 0; o < problem.ops.size(); ++o) {
      replayed.push_back(((set >> o) & 1U) != 0);
      allowed = allowed && (!replayed[o] || problem.ops[o].can_replay);
    }
    if (allowed) choices.push_back(price_choice(problem, replayed));
  }
  return choices;
}

std::vector<ParetoPoint<2>> points_of(const std::vector<RecomputeChoice>& choices) {
  std::vector<ParetoPoint<2>> points;
  for (const RecomputeChoice& c : choices) points.push_back({c.saved.value(), c.time.value()});
  return points;
}
std::vector<ParetoPoint<3>> prices_of(const std::vector<RecomputeChoice>& choices) {
  std::vector<ParetoPoint<3>> points;
  for (const RecomputeChoice& c : choices) points.push_back({c.saved.value(), c.time.value(), c.restored.value()});
  return points;
}
template <std::size_t N>
std::vector<ParetoPoint<N>> front_of(const std::vector<ParetoPoint<N>>& points) {
  std::vector<ParetoPoint<N>> front;
  for (const std::size_t i : pareto_front(points)) front.push_back(points[i]);
  return front;
}
std::vector<ParetoPoint<2>> convex_corners(const std::vector<ParetoPoint<2>>& front) {
  std::vector<ParetoPoint<2>> corners;
  for (const ParetoPoint<2>& p : front) {
    const auto above = [&](const ParetoPoint<2>& a, const ParetoPoint<2>& b) {
      return (b[1] - a[1]) * (p[0] - a[0]) >= (p[1] - a[1]) * (b[0] - a[0]);
    };
    while (corners.size() > 1 && above(corners[corners.size() - 2], corners.back())) corners.pop_back();
    corners.push_back(p);
  }
  return corners;
}

TEST_CASE("choices, frontiers and corners of random blocks are those of all sets") {
  std::mt19937 random(20240611);
  for (int instance = 0; instance < 300; ++instance) {
    const RecomputeProblem problem = random_problem(random, 2 + instance % 8);
    const std::vector<RecomputeChoice> all = all_choices(problem);
    INFO("instance " << instance);
    REQUIRE(prices_of(block_choices(problem)) == front_of(prices_of(all)));
    const auto frontier = front_of(points_of(all));
    REQUIRE(points_of(block_frontier(problem)) == frontier);
    REQUIRE(points_of(frontier_hull(problem)) == convex_corners(frontier));
  }
}

struct Case {
  Graph graph;
  Strategy strategy;
  FlashAttention flash;
};
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on})
    for (const std::int32_t tp : {1, 4}) {
      Strategy s;
      s.tensor_parallel = tp;
      s.sequence_parallel = tp > 1 ? SequenceParallel::on : SequenceParallel::off;
      s.flash_attention = flash;
      s.micro_batch = 2;
      result.push_back({gpt({2, 4096, 32, 51200, 2048, Dropout::yes}), s, flash});
      result.push_back({llama({2, 4096, 32, 8, 128, 14336, 32000}), s, flash});
      if (tp == 1) result.push_back({llama({2, 1024, 16, 8, 64, 2816, 32000, 8, 2, 1408, 1408, true}), s, flash});
    }
  return result;
}

TEST_CASE("none, selective and full are sets of a real block, and the frontier is at least as good") {
  Training training;
  training.sequence_length = 2048;
  const BlockPricer pricer(round_cluster(1), round_calibration());
  for (const Case& c : cases()) {
    const Block& block = first_layer(c.graph);
    const Shard shard = shard_of(c.strategy, training);
    const BlockGroups groups = block_groups(c.strategy);
    const BlockCost cost = pricer.price(block, shard, groups);
    const RecomputeProblem problem = recompute_problem(block, shard, groups, pricer);
    const std::vector<RecomputeChoice> frontier = block_frontier(problem);
    INFO(c.graph.name() << " tp " << c.strategy.tensor_parallel << " points " << frontier.size());

    std::vector<bool> core(problem.ops.size(), false);
    Bytes context(0);
    for (std::size_t o = 0; o < core.size(); ++o) {
      core[o] = problem.ops[o].name == "attention.core";
      if (core[o]) context = problem.values[static_cast<std::size_t>(problem.ops[o].outputs.front())].size;
    }
    const RecomputeChoice none = price_choice(problem, std::vector<bool>(core.size(), false));
    const RecomputeChoice full = price_choice(problem, std::vector<bool>(core.size(), true));
    const RecomputeChoice selective = price_choice(problem, core);
    CHECK(none.saved == cost.memory().saved);
    CHECK(none.time == Picoseconds(0));
    CHECK(full.saved == cost.boundary);
    CHECK(full.time <= cost.times(Variant::full).recompute.total());
    Picoseconds all(0);
    for (const RecomputeOp& op : problem.ops) all += op.time;
    CHECK(all == cost.forward.total());
    if (c.flash == FlashAttention::off) {
      // A replay of the core writes its output again too, which the mode of core/cost keeps.
      CHECK(selective.saved + context == cost.variant(Variant::selective).memory.saved);
      CHECK(selective.time.value() ==
            Approx(static_cast<double>(cost.times(Variant::selective).recompute.total().value())).epsilon(0.02));
    }
    CHECK(frontier.back().time == Picoseconds(0));
    CHECK(frontier.back().saved == none.saved);
    CHECK(frontier.front().saved == full.saved);
    CHECK(frontier.front().time <= full.time);
    for (const RecomputeChoice& mode : {none, full, selective})
      CHECK(std::any_of(frontier.begin(), frontier.end(),
                        [&](const RecomputeChoice& f) { return f.saved <= mode.saved && f.time <= mode.time; }));
    CHECK(points_of(frontier_hull(problem)) == convex_corners(points_of(frontier)));
  }
}

TEST_CASE("keep-all and full recompute are the ends of the frontier and selective lies on it") {
  Training training;
  training.sequence_length = 2048;
  const BlockPricer pricer(round_cluster(1), round_calibration());
  Strategy s;
  s.tensor_parallel = 8;
  s.sequence_parallel = SequenceParallel::on;
  s.flash_attention = FlashAttention::off;
  const Graph graph = gpt({2, 12288, 96, 51200, 2048, Dropout::yes});
  const RecomputeProblem problem =
      recompute_problem(first_layer(graph), shard_of(s, training), block_groups(s), pricer);
  const std::vector<RecomputeChoice> frontier = block_frontier(problem);
  std::vector<bool> core;
  for (const RecomputeOp& op : problem.ops) core.push_back(op.name == "attention.core");
  const RecomputeChoice selective = price_choice(problem, core);
  const auto points = points_of(frontier);
  CHECK(std::find(points.begin(), points.end(), ParetoPoint<2>{selective.saved.value(), selective.time.value()}) !=
        points.end());
}

}  // namespace
}  // namespace plumbline
