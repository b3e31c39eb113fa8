// Changes in a framework's own words.

#include "planner/session/export/own_settings.h"

#include "planner/session/fit/fit.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::session {
namespace {

PricedQuestion priced(Strategy strategy) {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 8, 8192, 64);
  request.strategy.strategy = std::move(strategy);
  return estimate(request);
}

Strategy divided(std::int32_t tensor_parallel) {
  Strategy s;
  s.tensor_parallel = tensor_parallel;
  s.data_parallel = 8 / tensor_parallel;
  s.micro_batches = 64 / s.data_parallel;
  return s;
}

TEST_CASE("a change is said in the framework's own flags") {
  const PricedQuestion asked = priced(divided(2));
  Strategy after = divided(4);
  after.recompute = Recompute{RecomputeMode::full};
  const std::string own = own_settings(asked, divided(2), after, Framework::megatron_lm);
  INFO(own);
  CHECK(own.find("--tensor-model-parallel-size 4, --recompute-granularity full") != std::string::npos);
  CHECK(own_settings(asked, after, divided(4), Framework::megatron_lm) ==
        "without --recompute-granularity, without --recompute-method, without --recompute-num-layers");
  CHECK(own_settings(asked, divided(2), after, Framework::plumbline).empty());
  after.recompute = Recompute{RecomputeMode::placed};
  CHECK(own_settings(asked, divided(2), after, Framework::megatron_lm).empty());
}

TEST_CASE("changes that make a plan fit are those that the framework launches") {
  const PricedQuestion asked = priced(divided(1));
  REQUIRE_FALSE(asked.plan.verdict.fits);
  const NetworkFacts network;
  bool any_lifted = false;
  for (const Change& change : fit(asked, {}, {Framework::any}).changes)
    any_lifted = any_lifted || !launches(record_of(Framework::megatron_lm), change.strategy, network);
  const FitAnswer answer = fit(asked, {}, {Framework::megatron_lm});
  CHECK_FALSE(answer.changes.empty());
  for (const Change& change : answer.changes)
    CHECK(launches(record_of(Framework::megatron_lm), change.strategy, network));
  CHECK(any_lifted);
}

}  // namespace
}  // namespace plumbline::session
