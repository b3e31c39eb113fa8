// Parameters that ZeRO-3 lets go of between a recomputed forward and its backward.

#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::regathers_test {
namespace {

Strategy zero3(std::int32_t tensor, RecomputeMode recompute) {
  Strategy s;
  s.tensor_parallel = tensor;
  s.data_parallel = s.shard_group = 64 / tensor;
  s.zero_stage = 3;
  s.recompute = {recompute, 1};
  return s;
}

Question under(const char* stack, const char* model) {
  QuestionText text = question_text(model, "dgx-a100-80g", 64, 2048, 64);
  text.stack = stack;
  return Question(text);
}

double gathered_bytes(const Question& question, const Strategy& s) {
  for (const CommunicationLine& line : evaluate(question, s).prediction.communication)
    if (line.group == "shard" && line.collective == "all_gather")
      return static_cast<double>(line.bytes_per_step.value());
  return 0;
}

double growth(const Question& question, std::int32_t tensor) {
  return gathered_bytes(question, zero3(tensor, RecomputeMode::full)) /
         gathered_bytes(question, zero3(tensor, RecomputeMode::none));
}

// Layers of 12 h^2 = 1.81e9 parameters: QKV 3, output 1, MLP 4 and 4. Between the recomputed forward of the last
// product and its backward lies nothing; before it lie 2 * 4 h^2 = 1.2e9, more than 1e9. So 8 h^2 of each of 96 layers
// are gathered three times instead of twice, of 174.6e9 parameters: 1 + 96 * 8 * 12288^2 / (2 * 174.6e9) = 1.332.
TEST_CASE("DeepSpeed gathers a third time what lies too far apart to be kept") {
  CHECK(growth(under("deepspeed-2024", "gpt3-175b"), 1) == Approx(1.332).epsilon(0.003));
  CHECK(growth(under("deepspeed-2021", "gpt3-175b"), 1) == Approx(1.332).epsilon(0.003));
}

// An eighth of such a layer, or one of 0.22e9 parameters, is used again within 1e9.
TEST_CASE("DeepSpeed keeps layers that are used again soon, FSDP all") {
  CHECK(growth(under("deepspeed-2024", "gpt3-175b"), 8) == 1);
  CHECK(growth(under("deepspeed-2024", "llama-3-8b"), 1) == 1);
  CHECK(growth(under("torchtitan-2024.12", "gpt3-175b"), 1) == 1);
}

// Without recompute the two are a part in 2000 apart: a program divides buckets by whole bytes.
TEST_CASE("a third gather takes its time, by closed form and simulated") {
  const Question question = under("deepspeed-2024", "gpt3-175b");
  const Strategy s = zero3(1, RecomputeMode::full);
  const Prediction third = evaluate(question, s).prediction;
  const Prediction twice = evaluate(question, zero3(1, RecomputeMode::none)).prediction;
  CHECK(third.time[TimeCause::data_parallel] > twice.time[TimeCause::data_parallel]);
  CHECK(to_seconds(simulated(question, s).simulation.step()).value() ==
        Approx(to_seconds(third.time.total()).value()).epsilon(1e-3));
}

}  // namespace
}  // namespace plumbline::regathers_test
