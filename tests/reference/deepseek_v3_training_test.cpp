// DeepSeek-V3, arXiv:2412.19437: 14.8e12 tokens on 2048 H800 (table 1: 2 664 thousand GPU hours of pre-training),
// 16-way pipeline parallelism by DualPipe, experts over 64 ranks on 8 nodes, ZeRO-1, no tensor parallelism, fp8
// (section 3.2); norms, MLA's up-projections and SwiGLU are computed again (3.2.3, 3.3.3), moments are in 16 bits
// (3.3.3); sequences of 4096 tokens, 15 360 to a batch after the first 469e9 tokens (4.2). Predicted from that layout
// alone.

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr double published_gpu_hours = 2.664e6;
constexpr double tokens = 14.8e12;
constexpr std::int64_t gpus = 2048;
constexpr std::int64_t sequence = 4096;
constexpr std::int64_t trained_batch = 15'360;

Plan published_plan() {
  QuestionText text;
  text.model = "deepseek-v3-mtp";
  text.machine = "hgx-h800";
  text.devices = gpus;
  text.training.sequence_length = sequence;
  text.training.global_batch = trained_batch;
  text.training.precision = PrecisionRecipe::fp8;
  text.training.optimizer_format = NumberFormat::bf16;
  // In 32 bits, as 3.3.3 keeps them, 17 MiB of 79.1 GiB are lacking: activations kept in 8 bits are not modelled.
  text.training.gradient_format = NumberFormat::bf16;
  // The one stack of the catalogue that runs the all-to-all of one micro-batch beside another, as DualPipe does.
  text.stack = "megatron-bridge-26.06-expert-overlap";
  const Question question(text);
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.pipeline_stages = 16;
  s.virtual_stages = 2;
  s.expert_parallel = 64;
  s.zero_stage = 1;
  s.micro_batch = 1;
  s.schedule = Schedule::dualpipev;  // DualPipe cut in half: sail-sg/zero-bubble, deepseek-ai/DualPipe, README
  partial.schedule_given = true;
  s.recompute = *recompute_from_text("selective:layernorm+mla_up_proj+moe_act");
  const Strategy strategy = completed(partial, question);
  require_legal(strategy, question);
  return evaluate(question, strategy);
}

}  // namespace

TEST_CASE("DeepSeek-V3 trains in its published GPU hours within 15 %, and fits") {
  const Plan plan = published_plan();
  const double steps = tokens / static_cast<double>(trained_batch * sequence);
  const double hours = steps * plan.prediction.step_time_s.expected * static_cast<double>(gpus) / 3600;
  const double error = hours / published_gpu_hours - 1;
  WARN("predicted " << hours / 1e6 << " M GPU hours, published " << published_gpu_hours / 1e6
                    << " M: " << std::lround(100 * error) << " %");
  CHECK(std::abs(error) < 0.15);
  CHECK(plan.verdict.fits);
}

}  // namespace plumbline
