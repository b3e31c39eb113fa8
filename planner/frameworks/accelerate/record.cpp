// Hugging Face Accelerate: FSDP by its YAML, without pipelines and experts.
#include "planner/frameworks/framework.h"

namespace plumbline {
namespace {

constexpr std::string_view launch = "src/accelerate/commands/launch.py";
constexpr std::string_view fsdp = "examples/config_yaml_templates/fsdp.yaml";
constexpr std::string_view parallelism = "src/accelerate/parallelism_config.py";

bool replicates_with_other_axes(const Strategy& s, bool) {
  return s.zero_stage == 0 && s.data_parallel > 1 && (s.tensor_parallel > 1 || s.context_parallel > 1);
}

}  // namespace

FrameworkRecord accelerate_record() {
  FrameworkRecord r;
  r.framework = Framework::accelerate;
  r.title = "Accelerate";
  r.adapters = "get_peft_model(model, LoraConfig(...))";
  r.adapters_source = "huggingface/peft docs/source/accelerate/fsdp.md";
  r.revision = "huggingface/accelerate 16cb6eb8 (2026-07-24), fsdp_version 2";
  r.recompute = {{RecomputeMode::none, "fsdp_activation_checkpointing: false", fsdp},
                 {RecomputeMode::full, "fsdp_activation_checkpointing: true", fsdp}};
  r.zero_stages = {{0, "distributed_type: MULTI_GPU", launch},
                   {2, "fsdp_reshard_after_forward: false", fsdp},
                   {3, "fsdp_reshard_after_forward: true", fsdp}};
  r.features = {{Feature::tensor_parallel, "parallelism_config_tp_size", launch},
                {Feature::context_parallel, "parallelism_config_cp_size", launch},
                {Feature::hybrid_sharding, "parallelism_config_dp_replicate_size", launch}};
  r.precisions = {{PrecisionRecipe::fp32, "mixed_precision: no", launch},
                  {PrecisionRecipe::fp16, "mixed_precision: fp16", launch},
                  {PrecisionRecipe::bf16, "mixed_precision: bf16", launch},
                  {PrecisionRecipe::fp8, "mixed_precision: fp8", launch}};
  r.rules = {{"replicates parameters (ZeRO-0) where there is no tensor or context parallelism", parallelism,
              replicates_with_other_axes}};
  r.defaults = {NumberFormat::bf16,
                "src/accelerate/utils/dataclasses.py: FSDP reduces in the format of mixed_precision",
                "one for each transformer layer, the unit that FSDP shards", fsdp};
  return r;
}

}  // namespace plumbline
