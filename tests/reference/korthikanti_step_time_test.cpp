// Step times of Korthikanti et al., arXiv:2205.05198, table 5 (A100, 80 GB; sequence 2048; fp32 gradients; unfused
// attention): full recompute, and selective recompute with sequence parallelism. Agreement, not prediction: the
// starting constants come from a study whose rows include these (docs/calibrations.md).

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline::korthikanti_step_time_test {
namespace {

struct Row {
  const char* model;
  std::int64_t devices;
  std::int64_t batch;
  std::int32_t pipeline_stages;
  std::int32_t virtual_stages;
  std::int64_t micro_batch;
  double full_s;
  double selective_s;
};
constexpr std::array rows{
    Row{"megatron-22b", 8, 4, 1, 1, 4, 1.42, 1.10}, Row{"gpt3-175b", 64, 64, 8, 3, 1, 18.13, 13.75},
    Row{"megatron-530b", 280, 280, 35, 3, 1, 49.05, 37.83}, Row{"megatron-1t", 512, 512, 64, 1, 1, 94.42, 71.49}};

double predicted_s(const Row& row, RecomputeMode mode) {
  QuestionText text;
  text.model = row.model;
  text.machine = "dgx-a100-80g";
  text.devices = row.devices;
  text.training.sequence_length = 2048;
  text.training.global_batch = row.batch;
  text.training.precision = PrecisionRecipe::fp16;
  text.training.gradient_format = NumberFormat::fp32;
  text.stack = "megatron-lm-2021";
  const Question question(text);
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = 8;
  s.pipeline_stages = row.pipeline_stages;
  s.virtual_stages = row.virtual_stages;
  s.micro_batch = row.micro_batch;
  s.flash_attention = FlashAttention::off;
  s.recompute = {mode, 1};
  if (mode == RecomputeMode::selective) s.sequence_parallel = SequenceParallel::on;
  const Strategy strategy = completed(partial, question);
  require_legal(strategy, question);
  return evaluate(question, strategy).prediction.step_time_s.expected;
}

}  // namespace

TEST_CASE("the eight step times of Korthikanti's table 5 are met within 6 %, within 3 % in the mean") {
  double sum = 0;
  for (const Row& row : rows) {
    for (const auto& [mode, published] :
         {std::pair(RecomputeMode::full, row.full_s), std::pair(RecomputeMode::selective, row.selective_s)}) {
      const double predicted = predicted_s(row, mode);
      const double error = predicted / published - 1;
      CAPTURE(row.model, to_text(Recompute{mode, 1}), predicted, published, error);
      CHECK(std::abs(error) < 0.06);
      sum += std::abs(error);
    }
  }
  CHECK(sum / (2 * rows.size()) < 0.03);
}

}  // namespace plumbline::korthikanti_step_time_test
