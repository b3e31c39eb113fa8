// Hugging Face Accelerate: FSDP and DeepSpeed by its YAML, without pipelines and experts. Context parallelism is of
// FSDP2 alone (src/accelerate/accelerator.py: maybe_context_parallel).
#include "planner/frameworks/framework.h"
#include "planner/frameworks/launch/torch_optimizers.h"

namespace plumbline {
namespace {

constexpr std::string_view launch_source = "src/accelerate/commands/launch.py";
constexpr std::string_view fsdp_source = "examples/config_yaml_templates/fsdp.yaml";
constexpr std::string_view parallelism_source = "src/accelerate/parallelism_config.py";

bool replicates_with_other_axes(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage == 0 && (s.context_parallel > 1 || (s.data_parallel > 1 && s.tensor_parallel > 1));
}

/// DeepSpeed's plugin has no other axes.
bool shards_states_with_other_axes(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage == 1 && (s.tensor_parallel > 1 || s.context_parallel > 1 || s.is_hybrid());
}

bool splits_context_ranks(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage > 1 && s.shard_group % s.context_parallel != 0;
}

}  // namespace

FrameworkRecord accelerate_record() {
  FrameworkRecord r;
  r.framework = Framework::accelerate;
  r.title = "Accelerate";
  r.stacks = {"Hugging Face"};
  r.adapters = "get_peft_model(model, LoraConfig(...))";
  r.adapters_source = "huggingface/peft docs/source/accelerate/fsdp.md";
  r.is_usual_of_adapters = true;
  r.current_stack = "huggingface-2024";
  r.scope = FrameworkScope{.source = "PEFT, docs/source/accelerate/fsdp.md: models of the Hub"};
  r.revision = "huggingface/accelerate 16cb6eb8 (2026-07-24), fsdp_version 2";
  r.recompute = {{RecomputeMode::none, "fsdp_activation_checkpointing: false", fsdp_source},
                 {RecomputeMode::full, "fsdp_activation_checkpointing: true", fsdp_source}};
  r.zero_stages = {{0, "distributed_type: MULTI_GPU", launch_source},
                   {1, "distributed_type: DEEPSPEED, zero_stage: 1", launch_source},
                   {2, "fsdp_reshard_after_forward: false", fsdp_source},
                   {3, "fsdp_reshard_after_forward: true", fsdp_source}};
  r.features = {{Feature::tensor_parallel, "parallelism_config_tp_size", launch_source},
                {Feature::context_parallel, "parallelism_config_cp_size", launch_source},
                {Feature::hybrid_sharding, "parallelism_config_dp_replicate_size", launch_source}};
  r.precisions = {{PrecisionRecipe::fp32, "mixed_precision: no", launch_source},
                  {PrecisionRecipe::fp16, "mixed_precision: fp16", launch_source},
                  {PrecisionRecipe::bf16, "mixed_precision: bf16", launch_source},
                  {PrecisionRecipe::fp8, "mixed_precision: fp8", launch_source}};
  r.optimizers = launched_optimizers(OptimizersOf::packages, "SGD(momentum)");
  r.rules = {{"replicates parameters (ZeRO-0) where there is no tensor or context parallelism", parallelism_source,
              replicates_with_other_axes},
             {"shards the optimizer alone (ZeRO-1) over all data-parallel ranks, without tensor or context parallelism",
              launch_source, shards_states_with_other_axes},
             {"shards over all context-parallel ranks", parallelism_source, splits_context_ranks},
             whole_parameters_rule(),
             plain_slices_rule(DTensorsOf::fully_shard)};
  r.defaults = {NumberFormat::bf16,
                "src/accelerate/utils/dataclasses.py: FSDP reduces in the format of mixed_precision",
                "one for each transformer layer, the unit that FSDP shards", fsdp_source};
  r.defaults.replicates_under_autocast = true;
  return r;
}

}  // namespace plumbline
