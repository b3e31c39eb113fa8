// Orders of one's own and stages of other speeds, simulated for a real network.

#include "planner/pricing/simulated.h"

#include "core/io/schedule_csv.h"
#include "core/program/dry_run.h"
#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/random_schedules.h"

namespace plumbline {
namespace {

Question gpt2() {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-h100";
  text.devices = 8;
  text.training.global_batch = 16;
  return Question(text);
}

Strategy strategy_of(const Question& question, Schedule schedule, std::int32_t stages, std::int32_t virtual_stages) {
  PartialStrategy partial;
  partial.strategy.pipeline_stages = stages;
  partial.strategy.virtual_stages = virtual_stages;
  partial.strategy.schedule = schedule;
  partial.schedule_given = true;
  return completed(partial, question);
}

SimulationOptions with_order(const ComputeSchedule& order) { return {Granularity::chunk, order, {}}; }

void check_equal(const SimulatedPlan& a, const SimulatedPlan& b) {
  CHECK(a.simulation.timeline.of_rank == b.simulation.timeline.of_rank);
  CHECK(a.simulation.step() == b.simulation.step());
  CHECK(a.simulation.time.by_cause == b.simulation.time.by_cause);
  CHECK(a.simulation.idle == b.simulation.idle);
  for (std::size_t rank = 0; rank < a.simulation.memory.size(); ++rank) {
    CHECK(a.simulation.memory[rank].memory.by_class == b.simulation.memory[rank].memory.by_class);
    CHECK(a.simulation.memory[rank].action == b.simulation.memory[rank].action);
  }
}

TEST_CASE("an order that is written and read back gives the identical simulation") {
  const Question question = gpt2();
  for (const auto& [schedule, virtual_stages] :
       {std::pair{Schedule::one_f_one_b, 1}, std::pair{Schedule::interleaved, 3}, std::pair{Schedule::zb_h1, 1},
        std::pair{Schedule::zbv, 2}, std::pair{Schedule::dualpipev, 2}}) {
    const Strategy strategy = strategy_of(question, schedule, 4, virtual_stages);
    const PipelineShape shape = pipeline_shape(strategy);
    CAPTURE(to_text(strategy));
    const std::string written = to_schedule_csv(compute_schedule(schedule, shape));
    check_equal(simulated(question, strategy),
                simulated(question, strategy, with_order(read_schedule_csv(written, "w", shape))));
  }
}

TEST_CASE("GPipe's order brought to a 1F1B strategy simulates as GPipe does, memory included") {
  const Question question = gpt2();
  const Strategy named = strategy_of(question, Schedule::gpipe, 4, 1);
  const Strategy other = strategy_of(question, Schedule::one_f_one_b, 4, 1);
  const SimulatedPlan brought =
      simulated(question, other, with_order(compute_schedule(Schedule::gpipe, pipeline_shape(other))));
  check_equal(simulated(question, named), brought);
  CHECK(brought.simulation.peak_memory() > simulated(question, other).simulation.peak_memory());
}

TEST_CASE("an order of the other placement is lowered with the stages where it has them") {
  const Question question = gpt2();
  const Strategy looped = strategy_of(question, Schedule::interleaved, 4, 2);
  const Strategy v_shaped = strategy_of(question, Schedule::zbv, 4, 2);
  const PipelineShape shape = pipeline_shape(looped);
  const SimulatedPlan brought = simulated(question, looped, with_order(compute_schedule(Schedule::zbv, shape)));
  CHECK(brought.program.placement == StagePlacement::v_shaped);
  check_equal(simulated(question, v_shaped), brought);
  const SimulatedPlan back = simulated(question, v_shaped, with_order(compute_schedule(Schedule::interleaved, shape)));
  check_equal(simulated(question, looped), back);
}

TEST_CASE("an order of the other placement keeps the recompute that was placed for the schedule") {
  const Question question = gpt2();
  Strategy looped = strategy_of(question, Schedule::interleaved, 4, 2);
  looped.recompute = {RecomputeMode::placed, 1};
  const SimulatedPlan named = simulated(question, looped);
  const SimulatedPlan brought =
      simulated(question, looped, with_order(compute_schedule(Schedule::zbv, pipeline_shape(looped))));
  CHECK(brought.program.placement == StagePlacement::v_shaped);
  REQUIRE(brought.replays.size() == named.replays.size());
  for (std::size_t i = 0; i < named.replays.size(); ++i)
    CHECK(brought.replays[i].replayed == named.replays[i].replayed);
}

Strategy strategy_of_order(const ComputeSchedule& order, RandomSchedules& random) {
  Strategy s;
  s.pipeline_stages = order.shape.pipeline_stages;
  s.virtual_stages = order.shape.virtual_stages;
  s.micro_batches = order.shape.micro_batches;
  s.schedule = s.virtual_stages == 1 ? Schedule::one_f_one_b : Schedule::interleaved;
  s.data_parallel = 2;
  s.shard_group = 2;
  s.zero_stage = random.between(0, 3);
  s.recompute = {random.between(0, 1) == 0 ? RecomputeMode::none : RecomputeMode::full, 1};
  return s;
}

// Neighbours exchanged at random: most orders wait for ever, and those that do not are like nothing that has a name.
TEST_CASE("whatever order can be read can be lowered and simulated") {
  const Question question = gpt2();
  RandomSchedules random;
  int done = 0;
  for (int n = 0; n < 400; ++n) {
    const ComputeSchedule order = random.schedule(random.between(0, 12));
    if (dry_run(order).deadlock) continue;
    const Strategy strategy = strategy_of_order(order, random);
    CAPTURE(to_text(strategy), to_schedule_csv(order));
    const ComputeSchedule read = read_schedule_csv(to_schedule_csv(order), "w", pipeline_shape(strategy));
    REQUIRE(read.ranks == order.ranks);
    for (const Granularity granularity : {Granularity::chunk, Granularity::block}) {
      const SimulatedPlan plan = simulated(question, strategy, {granularity, read, {}});
      REQUIRE(plan.simulation.time.total() == plan.simulation.step());
      for (const Picoseconds idle : plan.simulation.idle) REQUIRE(idle >= Picoseconds(0));
      const std::size_t executions = granularity == Granularity::block ? question.graph().sequence().size() : 0;
      REQUIRE(plan.program.blocks.size() == executions);
    }
    ++done;
  }
  CHECK(done > 50);
}

// Offloaded activations are copied back before a backward begins. Reductions of gradients run alongside the backward
// only; updates of weights run alongside the copies as well.
TEST_CASE("what is reduced and updated next to copies to the host takes as long in closed form as simulated") {
  QuestionText text;
  text.model = "gpt2-large";
  text.machine = "a100-80g-ethernet-100g";
  text.training.sequence_length = 512;
  for (const std::int32_t data : {24, 40, 56})
    for (const char* stack : {"megatron-core-0.12", "unknown-2022", "torchtitan-2025.06"})
      for (const std::int32_t zero : {0, 1}) {
        text.devices = data;
        text.stack = stack;
        text.training.global_batch = std::int64_t{2} * data;
        const Question question(text);
        Strategy s = strategy_of(question, Schedule::none, 1, 1);
        s.data_parallel = data;
        s.micro_batches = 2;
        s.zero_stage = zero;
        s.shard_group = zero > 0 ? data : 1;
        s.flash_attention = FlashAttention::off;
        s.recompute = {RecomputeMode::offloaded, 5};
        CAPTURE(to_text(s), stack);
        const double step = to_seconds(simulated(question, s).simulation.step()).value();
        CHECK(evaluate(question, s).prediction.step_time_s.expected == Approx(step).epsilon(1e-6));
      }
}

// The one stage of a pipeline-free plan at half speed: its compute and optimizer take twice as long.
TEST_CASE("a stage at half speed computes twice as long and communicates as before") {
  const Question question = gpt2();
  const Strategy strategy = strategy_of(question, Schedule::none, 1, 1);
  const Simulation priced = simulated(question, strategy).simulation;
  const Simulation slow = simulated(question, strategy, {Granularity::chunk, std::nullopt, {{2.0}}}).simulation;
  CHECK(slow.time[TimeCause::compute] == priced.time[TimeCause::compute] * std::int64_t{2});
  CHECK(slow.time[TimeCause::optimizer] == priced.time[TimeCause::optimizer] * std::int64_t{2});
  CHECK(slow.time[TimeCause::data_parallel] == priced.time[TimeCause::data_parallel]);
  CHECK(slow.time.total() == slow.step());
}

TEST_CASE("a slower stage holds up a pipeline, a faster one alone hardly helps") {
  const Question question = gpt2();
  const Strategy strategy = strategy_of(question, Schedule::one_f_one_b, 4, 1);
  const auto step_with = [&](double slowdown) {
    return simulated(question, strategy, {Granularity::chunk, std::nullopt, {{1, slowdown, 1, 1}}}).simulation.step();
  };
  CHECK(step_with(1) == simulated(question, strategy).simulation.step());
  CHECK(step_with(2) > step_with(1.25));
  CHECK(step_with(1.25) > step_with(1));
  CHECK(step_with(0.5) <= step_with(1));
}

}  // namespace
}  // namespace plumbline
