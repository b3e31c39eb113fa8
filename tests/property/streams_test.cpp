// Laws of actions that run at the same time, over random legal plans: overlap, contention, links, sends that block.

#include <random>

#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

/// A plan as a program with its times.
struct Lowered {
  Program program;
  ActionTimes times;
};

Lowered lowered(const Question& question, const Strategy& s, Granularity granularity) {
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const StageLayout layout = layout_of(question, s);
  const StageTable ranks(question.graph(), layout, blocks);
  const PricedPlan plan{
      question.graph(), s, question.training(), question.calibration().stack, question.step_pricer(), ranks, blocks};
  const SizedPlan sizes = plan.sizes();
  const SegmentTable segments(sizes, granularity);
  Lowered result;
  result.program = lower(lowering_input(sizes, segments));
  result.times = action_times(plan, segments, result.program);
  return result;
}

template <class Visit>
void for_random_plans(std::size_t plans_per_question, Visit visit) {
  std::mt19937_64 bits(11);
  const Question questions[] = {question_of("llama-3-8b", "dgx-h100", 16, 2048, 64),
                                question_of("llama-3.2-1b", "rtx4090-pcie", 16, 2048, 64)};
  for (const Question& question : questions) {
    const std::vector<Strategy> plans = legal_plans(question);
    for (std::size_t n = 0; n < plans_per_question; ++n) {
      const Strategy& s = plans[bits() % plans.size()];
      CAPTURE(to_text(s));
      visit(lowered(question, s, n % 2 == 0 ? Granularity::chunk : Granularity::block));
    }
  }
}

/// Each change of rate rounds by a picosecond.
Picoseconds rounding(const Program& program) { return Picoseconds(4 * program.action_count()); }

Picoseconds step_with(const Lowered& plan, double slowdown, const std::vector<StreamLinks>& links) {
  ActionTimes times = plan.times;
  times.overlap_slowdown = slowdown;
  times.links = links;
  return timeline(plan.program, times).step;
}

TEST_CASE("less contention never takes longer, and overlap never longer than one after the other") {
  for_random_plans(100, [](const Lowered& plan) {
    const Picoseconds slack = rounding(plan.program);
    const Picoseconds free = step_with(plan, 0, {});
    const Picoseconds slowed = step_with(plan, 0.2, {});
    const Picoseconds serial = step_with(plan, 1, {});
    CHECK(free <= slowed + slack);
    CHECK(slowed <= serial + slack);
    CHECK(step_with(plan, 0.2, {}) <= step_with(plan, 0.2, plan.times.links) + slack);
  });
}

TEST_CASE("a step is never shorter than what one rank or one stream of it does alone") {
  for_random_plans(100, [](const Lowered& plan) {
    const Picoseconds step = timeline(plan.program, plan.times).step;
    for (std::size_t rank = 0; rank < plan.program.ranks.size(); ++rank) {
      Picoseconds in_order(0);
      std::array<Picoseconds, stream_count> streams{};
      const std::vector<Action>& actions = plan.program.ranks[rank].actions;
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const Picoseconds time = plan.times.of_rank[rank][i];
        if (actions[i].stream() == Stream::pipeline) continue;  // messages in transit pass each other
        if (actions[i].issue == Issue::in_order) in_order += time;
        streams[static_cast<std::size_t>(actions[i].stream())] += time;
      }
      CHECK(in_order <= step);
      for (const Picoseconds stream : streams) CHECK(stream <= step);
    }
  });
}

TEST_CASE("every cause and every rank's idle time are accounted for, to the picosecond") {
  for_random_plans(100, [](const Lowered& plan) {
    const Simulation s = simulate(plan.program, plan.times, 0);
    CHECK(s.time.total() == s.step());
    for (const Picoseconds time : s.time.by_cause) CHECK(time >= Picoseconds(0));
    for (const Picoseconds idle : s.idle) CHECK(idle >= Picoseconds(0));
  });
}

TEST_CASE("sends that block never make a step shorter, and say so where they never end") {
  std::size_t ended = 0;
  for_random_plans(60, [&](const Lowered& plan) {
    TimelineOptions options;
    options.sends = Sends::blocking;
    ActionTimes times = plan.times;
    times.links.clear();
    const Timeline blocking = timeline(plan.program, times, options);
    if (blocking.stall) {
      CHECK(blocking.stall->find(" waits at ") != std::string::npos);
      return;
    }
    ++ended;
    CHECK(blocking.step + rounding(plan.program) >= timeline(plan.program, times).step);
  });
  CHECK(ended > 0);
}

TEST_CASE("bytes of a program's collectives sum to those of the communication lines") {
  const Question question = question_of("llama-3-8b", "dgx-h100", 16, 2048, 64);
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 4;
  partial.strategy.recompute = {RecomputeMode::full, 1};
  const Strategy s = completed(partial, question);
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const StageLayout layout = layout_of(question, s);
  const StageTable ranks(question.graph(), layout, blocks);
  const Lowered plan = lowered(question, s, Granularity::block);
  std::map<std::string, Bytes> sent;
  for (const Action& action : plan.program.ranks[0].actions)
    if (action.stream() == Stream::tensor) sent["tensor"] += action.bytes();
  for (const CommunicationLine& line : question.step_pricer().communication(ranks, s))
    if (line.group == "tensor") CHECK(sent["tensor"] == line.bytes_per_step);
  CHECK(sent["tensor"] > Bytes(0));
}

}  // namespace
}  // namespace plumbline
