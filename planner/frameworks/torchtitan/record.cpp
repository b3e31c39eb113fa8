// torchtitan: the keys of its TOML files, whose last release is v0.2.2.
#include <array>
#include <string>

#include "planner/frameworks/framework.h"
#include "planner/frameworks/torch/schedule_names.h"

namespace plumbline {
namespace {

constexpr std::string_view config = "torchtitan/config/job_config.py";
constexpr std::string_view parallelize = "torchtitan/models/llama3/infra/parallelize.py";
constexpr std::string_view dims = "torchtitan/distributed/parallel_dims.py";
constexpr std::string_view experts = "torchtitan/models/llama4/infra/parallelize.py: apply_moe_ep_tp";

/// Kept for as long as the program runs: records point into it.
std::string_view schedule_key(Schedule schedule) {
  static const auto keys = [] {
    std::array<std::string, all_schedules.size()> all;
    for (const Schedule one : all_schedules)
      all[static_cast<std::size_t>(one)] =
          "parallelism.pipeline_parallel_schedule = \"" + std::string(torch::schedule_name(one)) + "\"";
    return all;
  }();
  return keys[static_cast<std::size_t>(schedule)];
}

/// FSDP shards over context-parallel ranks wherever there are any.
bool replicates_with_other_axes(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage == 0 && s.gradient_ranks() > 1 && s.devices() > s.data_parallel;
}

bool shards_parts_of_context_groups(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage > 0 && s.shard_group % s.context_parallel != 0;
}

/// Of a backward in two parts, fully_shard has freed the parameters between them.
bool gathers_between_backwards(const Strategy& s, const NetworkFacts&) {
  return s.pipeline_stages > 1 && splits_backward(s.schedule) && s.zero_stage == 3;
}

bool splits_experts_otherwise(const Strategy& s, const NetworkFacts& network) {
  if (!network.has_experts || s.tensor_parallel == 1) return false;
  return s.expert_tensor_parallel != s.tensor_parallel && (s.expert_parallel == 1 || s.expert_tensor_parallel != 1);
}

bool spreads_experts_over_replicas(const Strategy& s, const NetworkFacts&) {
  const std::int64_t ranks = std::int64_t{s.zero_stage > 0 ? s.shard_group : 1} * s.tensor_parallel;
  return s.expert_parallel > 1 && ranks % (std::int64_t{s.expert_parallel} * s.expert_tensor_parallel) != 0;
}

bool lacks_sequence_parallel(const Strategy& s, const NetworkFacts&) {
  return s.tensor_parallel > 1 && s.sequence_parallel == SequenceParallel::off;
}

}  // namespace

FrameworkRecord torchtitan_record() {
  FrameworkRecord r;
  r.framework = Framework::torchtitan;
  r.title = "torchtitan";
  r.stacks = {"torchtitan"};
  r.current_stack = "torchtitan-2026.03";
  r.scope = FrameworkScope{.needs_bf16_units = true, .source = "README.md: pre-training of language models in bf16"};
  r.revision = "pytorch/torchtitan v0.2.2, 73a0e6979 (2026-02-20)";
  r.schedules = torch::launchable_schedules(schedule_key, "parallelism.pipeline_parallel_schedule_csv", config);
  r.recompute = {{RecomputeMode::none, "activation_checkpoint.mode = \"none\"", config},
                 {RecomputeMode::full, "activation_checkpoint.mode = \"full\"", config},
                 {RecomputeMode::every_nth, "activation_checkpoint.selective_ac_option = \"N\"", config},
                 {RecomputeMode::by_operator, "activation_checkpoint.selective_ac_option = \"op\"", config}};
  r.zero_stages = {{0, "parallelism.data_parallel_replicate_degree, data_parallel_shard_degree = 1", config},
                   {2, "parallelism.fsdp_reshard_after_forward = \"never\"", config},
                   {3, "parallelism.fsdp_reshard_after_forward = \"always\"", config}};
  r.features = {{Feature::tensor_parallel, "parallelism.tensor_parallel_degree", config},
                {Feature::sequence_parallel, "with every tensor_parallel_degree", config},
                {Feature::context_parallel, "parallelism.context_parallel_degree", config},
                {Feature::expert_parallel, "parallelism.expert_parallel_degree", config},
                {Feature::expert_tensor_parallel, "parallelism.expert_tensor_parallel_degree", config},
                {Feature::pipeline, "parallelism.pipeline_parallel_degree", config},
                {Feature::virtual_stages, "parallelism.pipeline_parallel_layers_per_stage", config},
                {Feature::hybrid_sharding, "parallelism.data_parallel_replicate_degree", config},
                {Feature::uneven_split, "parallelism.module_fqns_per_model_part", config}};
  r.precisions = {{PrecisionRecipe::fp32, "training.mixed_precision_param = \"float32\"", config},
                  {PrecisionRecipe::bf16, "training.mixed_precision_param = \"bfloat16\"", config},
                  {PrecisionRecipe::bf16_pure, "training.dtype = \"bfloat16\"", config},
                  {PrecisionRecipe::fp8, "model.converters = [\"quantize.linear.float8\"]", config},
                  {PrecisionRecipe::fp8_row,
                   "model.converters = [\"quantize.linear.float8\"], float8.recipe_name = \"rowwise\"", config},
                  {PrecisionRecipe::mxfp8, "model.converters = [\"quantize.linear.mx\"]", config}};
  r.optimizers = {{Optimizer::adam, "optimizer.name = \"Adam\"", config},
                  {Optimizer::adamw, "optimizer.name = \"AdamW\"", config}};
  r.rules = {
      {"replicates parameters (ZeRO-0) where data parallelism is the only one", parallelize,
       replicates_with_other_axes},
      {"has no tensor parallelism without sequence parallelism", parallelize, lacks_sequence_parallel},
      {"splits backwards of parameters that stay whole over the step (ZeRO-2), not of those that are gathered again",
       "torch/distributed/pipelining/_backward.py", gathers_between_backwards},
      {"shards over whole groups of context-parallel ranks", dims, shards_parts_of_context_groups},
      {"splits experts over all tensor-parallel ranks, or spreads them with etp 1", experts, splits_experts_otherwise},
      {"spreads experts over ranks that shard parameters", dims, spreads_experts_over_replicas}};
  r.defaults = {NumberFormat::fp32, "job_config.py: training.mixed_precision_reduce = \"float32\"",
                "one for each transformer block, the unit that FSDP shards", parallelize};
  return r;
}

}  // namespace plumbline
