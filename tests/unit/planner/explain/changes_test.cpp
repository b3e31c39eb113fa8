#include "planner/explain/changes.h"

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
