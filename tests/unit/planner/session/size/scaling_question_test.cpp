// The question of a plan over numbers of GPUs.
#include "planner/session/size/size.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// Four stages of 16 micro-batches, on nodes of eight.
StrategyRequest pipelined_request() {
  StrategyRequest request = small_request();
  request.question.training.sequence_length = 1024;
  request.question.training.global_batch = 32;
  request.strategy.strategy.pipeline_stages = 4;
  request.strategy.strategy.schedule = Schedule::one_f_one_b;
  request.strategy.schedule_given = true;
  return request;
}

TEST_CASE("scaling asks for a quarter to four times the GPUs, in whole nodes") {
  StrategyRequest request = pipelined_request();
  const auto counts = [&](std::int64_t devices) {
    request.question.devices = devices;
    request.question.training.global_batch = 2 * devices;
    return scaling_question(estimate(request)).request.devices;
  };
  CHECK(counts(8) == std::vector<std::int64_t>{2, 4, 8, 16, 32});
  CHECK(counts(16) == std::vector<std::int64_t>{4, 8, 16, 32, 64});
  CHECK(counts(24) == std::vector<std::int64_t>{24, 48, 96});  // 6 and 12 are no whole nodes
}

TEST_CASE("without a budget of tokens the run has 20 for each parameter, and that is said") {
  const PricedQuestion asked = estimate(pipelined_request());
  const ScalingQuestion question = scaling_question(asked);
  const Training& training = question.request.search.question.training;
  CHECK(training.token_budget == 20 * asked.plan.model.trained_parameters);
  CHECK(question.note.find("20 for each parameter") != std::string::npos);
}

TEST_CASE("a budget that was given is kept") {
  StrategyRequest request = small_request();
  request.question.training.sequence_length = 1024;
  request.question.training.global_batch = 32;
  request.question.training.token_budget = 1'000'000'000;
  const ScalingQuestion question = scaling_question(estimate(request));
  CHECK(question.request.search.question.training.token_budget == 1'000'000'000);
  CHECK(question.note.empty());
}

}  // namespace
}  // namespace plumbline::session
