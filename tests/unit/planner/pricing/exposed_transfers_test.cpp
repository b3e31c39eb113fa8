// What a step shows of the transfers that share states is at most what they take alone.

#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::exposed_transfers_test {
namespace {

Strategy sharded(std::int32_t zero_stage) {
  Strategy s;
  s.data_parallel = 64;
  s.zero_stage = zero_stage;
  s.shard_group = zero_stage > 0 ? 64 : 1;
  return s;
}

Seconds alone(const Plan& plan) {
  Seconds sum(0);
  for (const CommunicationLine& line : plan.prediction.communication) sum += line.time;
  return sum;
}

// Eight nodes behind one 100 Gb/s port each: 0.3 s of compute beside seconds of transfers.
TEST_CASE("a slow network shows no more of a transfer than the transfer") {
  const Question question = question_of("llama-2-7b", "h100-ethernet-100g", 64, 4096, 64);
  for (const std::int32_t zero_stage : {0, 1, 3}) {
    INFO("ZeRO-" << zero_stage);
    const Plan plan = evaluate(question, sharded(zero_stage));
    const Seconds exposed = to_seconds(plan.prediction.time[TimeCause::data_parallel]);
    CHECK(exposed.value() > 0.5 * alone(plan).value());
    // ZeRO-3 sends unit by unit, each with a latency of its own.
    CHECK(exposed.value() <= (zero_stage == 3 ? 1.01 : 1.) * alone(plan).value());
    const Simulation simulation = simulated(question, sharded(zero_stage)).simulation;
    CHECK(to_seconds(simulation.time[TimeCause::data_parallel]).value() <=
          (zero_stage == 3 ? 1.01 : 1.) * alone(plan).value());
  }
}

Question with_overlap(const char* overlap, const char* machine, std::int64_t devices) {
  QuestionText text = question_text("llama-2-7b", machine, devices, 4096, 64);
  text.choices.overlap = overlap;
  return Question(text);
}

// llama-2-7b: 6.74e9 gradients of 4 bytes over 100 Gb/s.
TEST_CASE("without overlap a step shows all of the transfers that share states, priced and simulated") {
  const Question question = with_overlap("none", "h100-ethernet-100g", 64);
  for (const std::int32_t zero_stage : {0, 1, 2}) {
    INFO("ZeRO-" << zero_stage);
    const Plan plan = evaluate(question, sharded(zero_stage));
    const double tolerance = zero_stage == 2 ? 1e-2 : 1e-6;  // ZeRO-2 sends unit by unit, each with a latency
    CHECK(to_seconds(plan.prediction.time[TimeCause::data_parallel]).value() ==
          Approx(alone(plan).value()).epsilon(tolerance));
    const Simulation simulation = simulated(question, sharded(zero_stage)).simulation;
    CHECK(to_seconds(simulation.time[TimeCause::data_parallel]).value() ==
          Approx(alone(plan).value()).epsilon(tolerance));
  }
}

TEST_CASE("each collective that no pass hides lengthens the step, and no other") {
  const auto step = [](const char* overlap, std::int32_t zero_stage) {
    return evaluate(with_overlap(overlap, "dgx-h100", 64), sharded(zero_stage)).prediction.time.total();
  };
  CHECK(step("both", 0) == step("reductions", 0));  // nothing updated is gathered
  CHECK(step("both", 1) < step("reductions", 1));
  CHECK(step("reductions", 1) < step("none", 1));
  CHECK(step("both", 3) == step("reductions", 3));
}

TEST_CASE("stages of a pipeline reduce without overlap too, priced as simulated") {
  for (const std::int32_t zero_stage : {0, 1}) {
    Strategy s = sharded(zero_stage);
    s.data_parallel = 16;
    s.shard_group = zero_stage > 0 ? 16 : 1;
    s.pipeline_stages = 4;
    s.micro_batches = 4;
    s.schedule = Schedule::one_f_one_b;
    const Question question = with_overlap("none", "h100-ethernet-100g", 64);
    const Plan plan = evaluate(question, s);
    const Simulation simulation = simulated(question, s).simulation;
    CHECK(to_seconds(simulation.step()).value() ==
          Approx(to_seconds(plan.prediction.time.total()).value()).epsilon(0.02));
    CHECK(plan.prediction.time.total() >
          evaluate(with_overlap("both", "h100-ethernet-100g", 64), s).prediction.time.total());
  }
}

}  // namespace
}  // namespace plumbline::exposed_transfers_test
