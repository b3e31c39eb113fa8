// What a step takes besides its actions, by the number of ranks.

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

double overhead_s(std::int64_t gpus) {
  const Question question = question_of("gpt3-125m", "dgx-a100-80g", gpus, 1024, gpus);
  const Plan plan = evaluate(question, completed({}, question));
  return to_seconds(plan.prediction.time[TimeCause::step_overhead]).value();
}

}  // namespace

// Of 8 and of 512 ranks: 6 doublings, rank_delay_s * ln 64.
TEST_CASE("a step waits for the slowest rank, later by the logarithm of their number") {
  const Question question = question_of("gpt3-125m", "dgx-a100-80g", 1, 1024, 1);
  const HostEfficiency& host = question.calibration().stack.host;
  REQUIRE(host.rank_delay_s > 0);
  CHECK(overhead_s(1) == Approx(host.step_overhead_s.value).margin(1e-9));
  CHECK(overhead_s(8) == Approx(host.step_overhead_s + host.rank_delay_s * std::log(8)).margin(1e-9));
  CHECK(overhead_s(512) - overhead_s(8) == Approx(host.rank_delay_s * std::log(64)).margin(1e-9));
}

// MXNet's hosts run ahead: Horovod's cycle of 0.1 ms is what is left, where an interpreter's pauses add 5 ms times
// ln 512.
TEST_CASE("pauses of hosts that run ahead of the device do not delay a step of many ranks") {
  QuestionText text = question_text("resnet-50", "dgx-h100", 512, 1, 20480);
  text.stack = "mxnet-ngc-2023";
  const Question question(text);
  PartialStrategy s;
  s.strategy.micro_batch = 40;
  const Plan plan = evaluate(question, completed(s, question));
  CHECK(to_seconds(plan.prediction.time[TimeCause::step_overhead]).value() < 0.001);
  CHECK(overhead_s(512) > 0.02);
}

}  // namespace plumbline
