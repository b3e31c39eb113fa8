#include "planner/explain/changes.h"

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Question llama_on_eight_gpus() {
  QuestionText text;
  text.model = "llama-3-8b";
  text.machine = "dgx-h100";
  text.devices = 8;
  text.training.sequence_length = 4096;
  text.training.global_batch = 64;
  return Question(text);
}

TEST_CASE("every change offered is legal, fits, and is what evaluate says") {
  const Question question = llama_on_eight_gpus();
  const Strategy plain = completed({}, question);
  REQUIRE_FALSE(evaluate(question, plain).verdict.fits);
  const std::vector<Change> changes = cheapest_changes(question, plain);
  REQUIRE_FALSE(changes.empty());
  for (const Change& change : changes) {
    CHECK_FALSE(first_violation(change.strategy, question.training(), question.facts(), question.limits()));
    const Plan plan = evaluate(question, change.strategy);
    CHECK(plan.verdict.fits);
    CHECK(plan.prediction.time.total() == change.plan.prediction.time.total());
  }
}

TEST_CASE("changes come cheapest first, and no more than asked for") {
  const Question question = llama_on_eight_gpus();
  const std::vector<Change> changes = cheapest_changes(question, completed({}, question), 3);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].plan.prediction.time.total() <= changes[1].plan.prediction.time.total());
  CHECK(changes[1].plan.prediction.time.total() <= changes[2].plan.prediction.time.total());
}

TEST_CASE("a single step changes one choice and keeps the GPU count and the batch") {
  const Question question = llama_on_eight_gpus();
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 2;
  partial.strategy.zero_stage = 1;
  const Strategy strategy = completed(partial, question);
  const std::vector<Change> steps = single_steps(question, strategy);
  CHECK(steps.size() >= 8);
  for (const Change& step : steps) {
    CHECK(step.steps.size() == 1);
    CHECK(step.strategy.devices() == 8);
    CHECK(step.strategy.data_parallel * step.strategy.micro_batch * step.strategy.micro_batches == 64);
  }
}

}  // namespace
}  // namespace plumbline
