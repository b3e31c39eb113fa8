// Configuration files that the frameworks' own readers accepted: tests/golden/launch/checked/README.md says which
// releases, and by which scripts.

#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

struct Case {
  const char* name;
  Strategy strategy;
  Training training = {};
};

Strategy sharded(std::int32_t stage, std::int32_t data_parallel, std::int32_t group = 0) {
  Strategy s;
  s.data_parallel = data_parallel;
  s.zero_stage = stage;
  s.shard_group = stage == 0 ? 1 : group == 0 ? data_parallel : group;
  s.micro_batch = 2;
  s.micro_batches = 4;
  return s;
}

Strategy with(Strategy s, std::int32_t Strategy::*degree, std::int32_t value) {
  s.*degree = value;
  if (degree == &Strategy::context_parallel && s.zero_stage > 0) s.shard_group *= value;
  return s;
}

Strategy recomputed(Strategy s) {
  s.recompute = Recompute{RecomputeMode::full};
  return s;
}

Strategy exchanging(Strategy s) {
  s.context_communication = ContextCommunication::all_to_all;
  return s;
}

Strategy pipelined(Strategy s) {
  s.pipeline_stages = 4;
  s.schedule = Schedule::one_f_one_b;
  return recomputed(s);
}

Training trained(PrecisionRecipe precision, Optimizer optimizer) {
  Training t;
  t.sequence_length = 4096;
  t.precision = precision;
  t.optimizer = optimizer;
  return t;
}

LaunchSettings settings_of_case(const Case& one) {
  LaunchSettings s = settings_for(one.strategy, one.training);
  s.nodes = 1;
  s.recipe.learning_rate = 3e-4;
  s.recipe.warmup_steps = 100;
  s.recipe.clip = 1.0;
  return s;
}

void check_golden(const LaunchTarget& target, const Case& one, std::string_view release, const std::string& end) {
  INFO(one.name);
  const LaunchFiles files = target.write(settings_of_case(one), release);
  const std::string& text = files.files.front().text;
  CHECK(text == golden_text("launch/checked/" + std::string(to_text(target.framework)) + "_" + one.name + end, text));
}

TEST_CASE("DeepSpeed's configurations are those that its reader accepted") {
  Training fp32_gradients = trained(PrecisionRecipe::bf16, Optimizer::adamw);
  fp32_gradients.gradient_format = NumberFormat::fp32;
  const std::vector<Case> cases{
      {"zero0_fp16", sharded(0, 8), trained(PrecisionRecipe::fp16, Optimizer::adam)},
      {"zero1_lion", sharded(1, 8), trained(PrecisionRecipe::bf16, Optimizer::lion)},
      {"zero1_pipeline", pipelined(sharded(1, 2)), fp32_gradients},
      {"zero1_tensor", with(sharded(1, 2), &Strategy::tensor_parallel, 4),
       trained(PrecisionRecipe::bf16, Optimizer::adamw)},
      {"zero1_experts", with(sharded(1, 8), &Strategy::expert_parallel, 4),
       trained(PrecisionRecipe::bf16, Optimizer::adamw)},
      {"zero2", sharded(2, 8), trained(PrecisionRecipe::bf16, Optimizer::adamw)},
      {"zero2_bf16_pure", sharded(2, 8), trained(PrecisionRecipe::bf16_pure, Optimizer::adamw)},
      {"zero3_muon", sharded(3, 16), trained(PrecisionRecipe::bf16, Optimizer::muon)},
      {"zero3_sequence", exchanging(with(recomputed(sharded(3, 4)), &Strategy::context_parallel, 2)),
       trained(PrecisionRecipe::bf16, Optimizer::adamw)}};
  for (const Case& one : cases) check_golden(deepspeed_target(), one, "0.19.8", ".json");
}

TEST_CASE("Accelerate's configurations are those that its reader accepted") {
  const Training usual = trained(PrecisionRecipe::bf16, Optimizer::adamw);
  const std::vector<Case> cases{{"ddp", sharded(0, 8), trained(PrecisionRecipe::fp32, Optimizer::sgd)},
                                {"deepspeed_zero1", sharded(1, 8), usual},
                                {"fsdp2_zero2", sharded(2, 8), trained(PrecisionRecipe::fp16, Optimizer::adamw)},
                                {"fsdp2_zero3", recomputed(sharded(3, 8)), usual},
                                {"fsdp2_tensor", with(sharded(3, 4), &Strategy::tensor_parallel, 2), usual},
                                {"fsdp2_context", with(sharded(3, 4), &Strategy::context_parallel, 2), usual},
                                {"fsdp2_group", sharded(3, 8, 4), usual}};
  for (const Case& one : cases) check_golden(accelerate_target(), one, "1.15.0", ".yaml");
  check_golden(accelerate_target(), {"fsdp1_zero3", recomputed(sharded(3, 8)), usual}, "1.5.2", ".yaml");
}

TEST_CASE("Lightning's strategies and Trainers are those that its classes accepted") {
  const Training usual = trained(PrecisionRecipe::bf16, Optimizer::adamw);
  const std::vector<Case> cases{{"ddp", sharded(0, 8), trained(PrecisionRecipe::fp16, Optimizer::sgd)},
                                {"deepspeed_zero1", sharded(1, 8), usual},
                                {"fsdp_zero2", sharded(2, 8), usual},
                                {"fsdp_zero3", recomputed(sharded(3, 8)), usual},
                                {"fsdp_group", sharded(3, 8, 4), usual},
                                {"tensor", with(sharded(3, 4), &Strategy::tensor_parallel, 2), usual}};
  for (const Case& one : cases) check_golden(lightning_target(), one, "2.6.6", ".py");
}

}  // namespace
}  // namespace plumbline
