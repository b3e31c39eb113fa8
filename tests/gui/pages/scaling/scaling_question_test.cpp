// The question of a plan over numbers of GPUs.
#include "gui/pages/scaling/scaling_question.h"

#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

TEST_CASE("scaling asks for a quarter to four times the GPUs, in whole nodes") {
  AskedPlan asked = pipelined();
  const auto counts = [&](std::int64_t devices) {
    asked.devices = devices;
    asked.global_batch = 2 * devices;
    return scaling_question(priced(asked)->answer).request.devices;
  };
  CHECK(counts(8) == std::vector<std::int64_t>{2, 4, 8, 16, 32});
  CHECK(counts(16) == std::vector<std::int64_t>{4, 8, 16, 32, 64});
  CHECK(counts(24) == std::vector<std::int64_t>{24, 48, 96});  // 6 and 12 are no whole nodes
}

TEST_CASE("without a budget of tokens the run has 20 for each parameter, and that is said") {
  const SharedPlan plan = priced(pipelined());
  const ScalingQuestion question = scaling_question(plan->answer);
  const Training& training = question.request.search.question.training;
  CHECK(training.token_budget == 20 * plan->answer.plan.model.trained_parameters);
  CHECK(question.remark.find("20 for each parameter") != std::string::npos);
}

TEST_CASE("a budget that was given is kept") {
  session::StrategyRequest request;
  request.question.model = "gpt2";
  request.question.machine = "dgx-h100";
  request.question.devices = 8;
  request.question.training.sequence_length = 1024;
  request.question.training.global_batch = 32;
  request.question.training.token_budget = 1'000'000'000;
  const ScalingQuestion question = scaling_question(session::estimate(request));
  CHECK(question.request.search.question.training.token_budget == 1'000'000'000);
  CHECK(question.remark.empty());
}

}  // namespace
}  // namespace plumbline::gui
