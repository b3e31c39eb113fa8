// What a step moves by when the host's times move, against priced steps.

#include "core/cost/host_share.h"

#include <cmath>

#include "planner/calibrate/run_pricer.h"
#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

struct Shares {
  double said = 0;
  double found = 0;  ///< d log(step) / d log(host times)
};

Shares shares_of(std::int64_t micro_batch, double host_s) {
  QuestionText text = question_text("gpt3-125m", "dgx-a100-80g", 1, 1024, 4 * micro_batch);
  text.stack = "megatron-lm-2021";
  const Question question(text);
  PartialStrategy partial;
  partial.strategy.micro_batch = micro_batch;
  const RunPricer pricer(question, completed(partial, question));
  Calibration calibration = question.calibration();
  HostEfficiency& host = calibration.stack.host;
  host.step_overhead_s.value = 0;
  host.host_time_per_kernel_s.value = host_s;
  constexpr double little = 0.02;
  const double before = pricer.step_s(calibration);
  const double share = pricer.host_share(calibration);
  host.host_time_per_kernel_s.value *= 1 + little;
  host.host_time_per_collective_s.value *= 1 + little;
  return {share, std::log(pricer.step_s(calibration) / before) / std::log1p(little)};
}

}  // namespace

TEST_CASE("of a step that is launching all of it moves with the host, of one that is not nothing") {
  const Shares launching = shares_of(1, 1e-3);
  CHECK(launching.said > 0.9);
  CHECK(launching.said == Approx(launching.found).margin(0.1));
  const Shares working = shares_of(32, 1e-6);
  CHECK(working.said < 0.01);
  CHECK(working.found == Approx(0).margin(0.01));
}

TEST_CASE("the host's share grows with its times and never leaves 0 to 1") {
  double last = 0;
  for (const double host_s : {0.0, 1e-6, 5e-6, 2e-5, 6e-5, 2e-4, 1e-3}) {
    const double share = shares_of(2, host_s).said;
    CAPTURE(host_s);
    CHECK(share >= last);
    CHECK(share <= 1);
    last = share;
  }
}

}  // namespace plumbline
