// What the stack that was measured next nearest says of a plan.

#include "planner/session/search/next_stack.h"

#include <set>

#include "planner/session/search/search.h"
#include "planner/session/search/search_words.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

TEST_CASE("the next stack prices the same plan, as naming it does") {
  const PricedQuestion asked = estimate(small_request());
  const std::optional<NextStack> next = next_stack(asked.question, asked.plan);
  REQUIRE(next);
  CHECK(next->stack == asked.question.usual_stack().candidates[1].stack);
  StrategyRequest named = small_request();
  named.question.stack = next->stack;
  named.question.training.gradient_format = asked.plan.training.gradient_format;
  named.strategy.strategy = asked.strategy;
  named.strategy.data_parallel_given = named.strategy.schedule_given = named.strategy.shard_group_given = true;
  const Plan plan = estimate(named).plan;
  CHECK(next->step_time.value() == plan.prediction.step_time_s.expected);
  CHECK(next->step_ratio == Approx(plan.prediction.step_time_s.expected / asked.plan.prediction.step_time_s.expected));
  CHECK(next->fits == plan.verdict.fits);
}

TEST_CASE("of a stack that was named nothing else is said, nor where no other was eligible") {
  StrategyRequest request = small_request();
  request.question.stack = "llm-c-2024";
  const PricedQuestion named = estimate(request);
  CHECK_FALSE(next_stack(named.question, named.plan));
  CHECK(present::next_stack_words(std::nullopt).empty());
  const PricedQuestion own = estimate(runnable_request());
  CHECK_FALSE(next_stack(own.question, own.plan));
}

TEST_CASE("a search says what the next stack says of its best plan") {
  SearchRequest request;
  request.question = small_request().question;
  request.limits_cost = false;
  const SearchAnswer answer = search(request);
  REQUIRE(answer.next_stack);
  const std::string words = present::next_stack_words(answer.next_stack);
  CHECK(words.starts_with("stack " + answer.next_stack->stack + ", measured next nearest, says step time "));
  NextStack unsure{"unknown", Seconds(2), 2, false, false};
  CHECK(present::next_stack_words(unsure) ==
        "stack unknown, without a measured run, says step time +100.0 %, and that it does not fit");
}

TEST_CASE("estimate, fit and search take the same stack") {
  StrategyRequest request = too_large_request();
  request.question.machine = "rtx4090-pcie";
  request.question.devices = 4;
  request.question.training.adaptation.lora_rank = 16;
  SearchRequest searched;
  searched.question = request.question;
  CHECK(estimate(request).plan.provenance.stack_calibration ==
        prepare_search(searched).questions.front().calibration().stack.name);
}

TEST_CASE("several precisions are searched under one stack, which has them all") {
  SearchRequest request;
  request.question = small_request().question;
  request.question.model = "llama-3-8b";
  request.recipes.precisions = {PrecisionRecipe::bf16, PrecisionRecipe::fp32};
  const PreparedSearch prepared = prepare_search(request);
  for (const Question& question : prepared.questions) {
    CHECK(question.text().stack == prepared.questions.front().text().stack);
    CHECK(inexpressible(prepared.framework.framework, question.training()).empty());
  }
  CHECK(prepared.framework.framework != Framework::any);
}

TEST_CASE("what a recipe could do that no row of the ranking has is said") {
  SearchRequest request;
  request.question = small_request().question;
  request.question.model = "llama-3-8b";
  request.recipes.precisions = {PrecisionRecipe::bf16, PrecisionRecipe::fp8};
  request.top = 1;
  request.limits_cost = false;
  const SearchAnswer answer = search(request);
  REQUIRE(answer.plans.size() == 1);
  REQUIRE(answer.best_of_others.size() == 1);
  const Plan& other = answer.best_of_others.front();
  CHECK(other.training.precision != answer.plans.front().training.precision);
  SearchRequest alone = request;
  alone.recipes.precisions = {other.training.precision};
  alone.question.stack = other.provenance.stack_calibration;
  CHECK((search(alone).plans.front().strategy == other.strategy));
  const std::vector<std::string> words = present::recipe_words(answer);
  REQUIRE(words.size() == 2);
  CHECK(words[0] == "Searched: precision bf16, fp8.");
  CHECK(words[1].starts_with("Best with "));
  CHECK(words[1].find(std::string(", ") + std::string(to_text(other.training.precision))) != std::string::npos);
  request.recipes.precisions = {PrecisionRecipe::bf16};
  CHECK(present::recipe_words(search(request)).empty());
  request.recipes.precisions = {PrecisionRecipe::bf16, PrecisionRecipe::fp8};
  request.top = 1000;  // both recipes have a row
  const SearchAnswer both = search(request);
  std::set<PrecisionRecipe> shown;
  for (const Plan& plan : both.plans) shown.insert(plan.training.precision);
  CHECK(shown.size() + both.best_of_others.size() == 2);
}

}  // namespace
}  // namespace plumbline::session
