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

}  // namespace
}  // namespace plumbline::exposed_transfers_test
