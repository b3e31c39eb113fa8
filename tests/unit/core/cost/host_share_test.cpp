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
  double found = 0;  ///< log of the step, over that of the host's times where these move a little
};

/// `by`: how far the host's times move (logarithm).
Shares shares_of(std::int64_t micro_batch, double host_s, double by = 0.02) {
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
  const double before = pricer.step_s(calibration);
  const double share = pricer.host_share(calibration);
  host.host_time_per_kernel_s.value *= std::exp(by);
  host.host_time_per_collective_s.value *= std::exp(by);
  return {share, std::log(pricer.step_s(calibration) / before) / by};
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

TEST_CASE("a host that takes much longer moves a step by more than its share of now") {
  constexpr double sigma = 0.5;
  bool beyond_share = false;
  for (const double host_s : {1e-6, 5e-6, 1e-5, 1.5e-5, 2e-5, 3e-5, 6e-5, 2e-4}) {
    CAPTURE(host_s);
    const Shares shares = shares_of(4, host_s, sigma);
    const double moved = moved_by_host(shares.said, sigma);
    CHECK(moved == Approx(shares.found * sigma).margin(0.08));
    CHECK(moved >= shares.said * sigma);
    beyond_share = beyond_share || shares.found * sigma > shares.said * sigma + 0.1;
  }
  CHECK(beyond_share);  // else the first check would hold of the share as well
}

TEST_CASE("what a sigma moves is little of it where little is the host's, all where all is, and can be taken back") {
  CHECK(moved_by_host(0.3, 1e-4) == Approx(0.3e-4).epsilon(1e-3));
  CHECK(moved_by_host(1, 0.4) == Approx(0.4));
  CHECK(moved_by_host(0, 0.4) == 0);
  for (const double share : {0.01, 0.2, 0.9})
    CHECK(host_sigma_that_moves(share, moved_by_host(share, 0.3)) == Approx(0.3));
}

}  // namespace plumbline
