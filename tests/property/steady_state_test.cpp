// Long programs and orders simulated as short ones: every figure is that of the whole, to the picosecond and the byte.

#include "core/program/order_memo.h"
#include "core/program/steady_order.h"
#include "core/simulate/stage_report.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

std::string peak_action(const SimulatedPlan& plan, std::size_t rank) {
  const std::int32_t action = plan.simulation.memory[rank].action;
  return action < 0 ? "" : to_text(plan.program.ranks[rank].actions[static_cast<std::size_t>(action)]);
}

void check_equal(const SimulatedPlan& informative, const SimulatedPlan& whole) {
  const Simulation& a = informative.simulation;
  const Simulation& b = whole.simulation;
  CHECK(a.step().value() == b.step().value());
  CHECK(a.timeline.micro_batches_end.value() == b.timeline.micro_batches_end.value());
  CHECK(a.timeline.reductions_end.value() == b.timeline.reductions_end.value());
  CHECK(a.timeline.end.value() == b.timeline.end.value());
  CHECK(a.time.by_cause == b.time.by_cause);
  CHECK(a.idle == b.idle);
  CHECK(a.actions == b.actions);
  CHECK(a.busiest_rank == b.busiest_rank);
  CHECK(a.heaviest_rank == b.heaviest_rank);
  const std::vector<StageReport> reports = stage_reports(informative.program, a);
  const std::vector<StageReport> expected = stage_reports(whole.program, b);
  for (std::size_t rank = 0; rank < a.memory.size(); ++rank) {
    CHECK(a.rank_time[rank].by_cause == b.rank_time[rank].by_cause);
    CHECK(a.memory[rank].memory.by_class == b.memory[rank].memory.by_class);
    CHECK(peak_action(informative, rank) == peak_action(whole, rank));
    CHECK(reports[rank].busy.by_cause == expected[rank].busy.by_cause);
    CHECK(reports[rank].peak_at.value() == expected[rank].peak_at.value());
    CHECK(reports[rank].alive.size() == expected[rank].alive.size());
  }
}

/// A question of many micro-batches for each rank of its pipeline.
RandomQuestion long_question(RandomQuestions& random) {
  for (;;) {
    auto [asked, strategy] = random.next();
    if (strategy.pipeline_stages > 5) continue;
    const std::int64_t p = strategy.pipeline_stages;
    const std::int64_t m =
        p * random.between(60, 110) +
        (strategy.schedule == Schedule::interleaved ? 0 : random.between(0, static_cast<std::int32_t>(p)));
    QuestionText text = asked.text();
    text.training.global_batch = m * strategy.micro_batch * strategy.data_parallel;
    strategy.micro_batches = m;
    const Question question(text);
    if (!first_violation(strategy, question.training(), question.facts(), question.limits()))
      return {question, strategy};
  }
}

void compare_long_programs(std::uint64_t seed, int programs) {
  RandomQuestions random(seed);
  std::map<std::string, std::pair<int, int>> shortened;  // of all, by schedule
  for (int n = 0; n < programs; ++n) {
    const auto [question, strategy] = long_question(random);
    SimulationOptions options{
        random.between(0, 9) == 0 ? Granularity::block : Granularity::chunk, {}, {}, Extent::informative};
    if (random.between(0, 4) == 0)
      for (std::int32_t rank = 0; rank < strategy.pipeline_stages; ++rank)
        options.timeline.slowdown.push_back(rank == 0 ? 1.5 : 1.0);
    INFO(question.text().model << " on " << question.text().machine << ": " << to_text(strategy));
    const SimulatedPlan informative = simulated(question, strategy, options);
    auto& [some, all] = shortened[std::string(to_text(strategy.schedule))];
    ++all;
    if (informative.simulation.left_out.micro_batches == 0) continue;
    ++some;
    options.extent = Extent::whole;
    check_equal(informative, simulated(question, strategy, options));
  }
  std::ostringstream report;
  for (const auto& [schedule, counts] : shortened)
    report << "  " << schedule << ": " << counts.first << " of " << counts.second << '\n';
  WARN("programs with a steady state:\n" << report.str());
  int all_short = 0;
  for (const auto& [schedule, counts] : shortened) all_short += counts.first;
  CHECK(all_short > programs / 4);
}

TEST_CASE("a long program simulated short has every figure of the whole") { compare_long_programs(20261123, 60); }
TEST_CASE("hundreds of long programs simulated short have every figure of the whole", "[long]") {
  compare_long_programs(11, 800);
}

StageTimes random_times(RandomQuestions& random, std::int32_t stages) {
  const auto time = [&](std::int32_t least, std::int32_t most) { return Picoseconds(random.between(least, most)); };
  StageTimes t;
  const bool is_even = random.between(0, 1) == 0;
  for (std::int32_t s = 0; s < stages; ++s) {
    t.forward.push_back(is_even && s > 0 ? t.forward.back() : time(50, 90));
    t.backward_input.push_back(is_even && s > 0 ? t.backward_input.back() : time(50, 90));
    t.backward_weight.push_back(is_even && s > 0 ? t.backward_weight.back() : time(20, 90));
    if (s > 0) t.latency.push_back(time(0, 9));
  }
  return t;
}

TEST_CASE("an order of many micro-batches ends when its short one and its periods do") {
  RandomQuestions random(3);
  for (int n = 0; n < 400; ++n) {
    const Schedule schedule = all_schedules[static_cast<std::size_t>(random.between(1, 8))];
    const std::int32_t p = random.between(2, 7);
    const std::int32_t v = placement(schedule) == StagePlacement::v_shaped ? 2
                           : schedule == Schedule::interleaved             ? random.between(2, 3)
                                                                           : 1;
    const PipelineShape shape{p, v, p * random.between(20, 60)};
    if (schedule_fault(schedule, p, v, shape.micro_batches)) continue;
    CAPTURE(to_text(schedule), p, v, shape.micro_batches);
    const StageTimes times = random_times(random, p * v);
    const OrderTiming timing = schedule_timing(schedule, shape, times);
    const OrderTiming whole = order_timing(checked_order(schedule, shape)->run, times);
    CHECK(timing.start == whole.start);
    CHECK(timing.end == whole.end);
  }
}

}  // namespace
}  // namespace plumbline
