// The published pre-training layout of Llama 3 405B: "The Llama 3 Herd of Models", arXiv:2407.21783, table 4 and
// section 3.3.2. Gradients are divided as by ZeRO-2 and reduced when a chunk's micro-batches have run; a pipeline
// stage holds one layer in each of eight chunks. No fit has seen it.

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline::llama3_405b_training_test {
namespace {

constexpr double published_flops = 400e12;  ///< per GPU and second, table 4: 16 384 GPUs, sequences of 8 192

Question question_for(const std::string& stack) {
  QuestionText text;
  text.model = "llama-3.1-405b";
  text.machine = "h100-roce";
  text.devices = 16384;
  text.training.sequence_length = 8192;
  text.training.global_batch = 2048;
  text.training.precision = PrecisionRecipe::bf16;
  text.training.gradient_format = NumberFormat::fp32;
  text.stack = stack;
  return Question(text);
}

Plan published(const Question& question, std::int32_t zero_stage) {
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = 8;
  s.sequence_parallel = SequenceParallel::on;
  s.pipeline_stages = 16;
  s.virtual_stages = 8;
  s.schedule = Schedule::interleaved;
  partial.schedule_given = true;
  s.micro_batch = 1;
  s.zero_stage = zero_stage;
  s.recompute = {RecomputeMode::none, 1};
  const Strategy strategy = completed(partial, question);
  require_legal(strategy, question);
  return evaluate(question, strategy);
}

double flops_per_device(const Plan& plan) {
  return plan.prediction.model_flops_per_step.value() / plan.prediction.step_time_s.expected / 16384;
}

}  // namespace

TEST_CASE("Llama 3 405B on 16 384 H100 runs at the published rate, within 10 %, and fits") {
  const Question question = question_for("megatron-core-0.12+sharded_gradients=last_backward");
  const Plan plan = published(question, 2);
  CHECK(plan.strategy.data_parallel == 128);
  CHECK(plan.strategy.micro_batches == 16);
  CHECK(std::abs(flops_per_device(plan) / published_flops - 1) < 0.1);
  CHECK(plan.prediction.peak_memory <= question.capacity());
}

// Why the gradients are divided: whole ones of all chunks do not fit. Why they wait: reduced behind every backward, as
// others do, they take longer than the backward.
TEST_CASE("Llama 3 405B needs gradients that are divided, once a step") {
  const Question once = question_for("megatron-core-0.12+sharded_gradients=last_backward");
  const Question each = question_for("megatron-core-0.12");
  CHECK(published(once, 1).prediction.peak_memory > once.capacity());
  CHECK(flops_per_device(published(each, 2)) < 0.75 * published_flops);
}

}  // namespace plumbline::llama3_405b_training_test
