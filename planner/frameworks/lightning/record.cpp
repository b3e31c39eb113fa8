// PyTorch Lightning: the strategies of its Trainer, without pipelines, context parallelism and experts.
#include "planner/frameworks/framework.h"
#include "planner/frameworks/launch/torch_optimizers.h"

namespace plumbline {
namespace {

constexpr std::string_view strategies_source = "lightning/pytorch/strategies";
constexpr std::string_view fsdp_source = "lightning/pytorch/strategies/fsdp.py";
constexpr std::string_view model_parallel_source = "lightning/pytorch/strategies/model_parallel.py";
constexpr std::string_view precision_plugins = "lightning/fabric/plugins/precision/precision.py";

/// FSDP2 is beside tensor parallelism, in a mesh of two dimensions.
bool needs_more_than_two_dimensions(const Strategy& s, const NetworkFacts&) {
  return s.tensor_parallel > 1 && s.data_parallel > 1 && (s.zero_stage < 2 || s.is_hybrid());
}

/// DeepSpeedStrategy has no groups.
bool shards_states_in_groups(const Strategy& s, const NetworkFacts&) { return s.zero_stage == 1 && s.is_hybrid(); }

}  // namespace

FrameworkRecord lightning_record() {
  FrameworkRecord r;
  r.framework = Framework::lightning;
  r.title = "Lightning";
  r.adapters = "get_peft_model(model, LoraConfig(...)) in the LightningModule";
  r.adapters_source = "huggingface/peft README.md: any torch.nn.Module";
  r.revision = "lightning 2.6.6, as released on the Python package index";
  r.recompute = {
      {RecomputeMode::none, "no activation_checkpointing_policy", fsdp_source},
      {RecomputeMode::full, "FSDPStrategy(activation_checkpointing_policy={Block}), or the model's own", fsdp_source}};
  r.zero_stages = {{0, "DDPStrategy()", strategies_source},
                   {1, "DeepSpeedStrategy(stage=1)", "lightning/pytorch/strategies/deepspeed.py"},
                   {2, "FSDPStrategy(sharding_strategy=\"SHARD_GRAD_OP\")", fsdp_source},
                   {3, "FSDPStrategy(sharding_strategy=\"FULL_SHARD\")", fsdp_source}};
  r.features = {{Feature::tensor_parallel, "ModelParallelStrategy(tensor_parallel_size=N)", model_parallel_source},
                {Feature::hybrid_sharding, "FSDPStrategy(device_mesh=(REPLICAS, SHARDS))", fsdp_source}};
  r.precisions = {{PrecisionRecipe::fp32, "precision=\"32-true\"", precision_plugins},
                  {PrecisionRecipe::fp16, "precision=\"16-mixed\"", precision_plugins},
                  {PrecisionRecipe::bf16, "precision=\"bf16-mixed\"", precision_plugins},
                  {PrecisionRecipe::bf16_pure, "precision=\"bf16-true\"", precision_plugins},
                  {PrecisionRecipe::fp16_pure, "precision=\"16-true\"", precision_plugins}};
  r.optimizers = launched_optimizers(OptimizersOf::packages, "SGD(momentum)");
  r.rules = {
      {"shards gradients (ZeRO-2, ZeRO-3) over all data-parallel ranks beside tensor parallelism",
       model_parallel_source, needs_more_than_two_dimensions},
      {"shards the optimizer alone (ZeRO-1) over all data-parallel ranks", strategies_source, shards_states_in_groups},
      whole_parameters_rule(),
      plain_slices_rule(DTensorsOf::tensor_parallel)};
  r.defaults = {NumberFormat::bf16,
                "lightning/pytorch/plugins/precision/fsdp.py: reduce_dtype is the format of precision",
                "one for each block of auto_wrap_policy, the unit that FSDP shards", fsdp_source};
  r.defaults.replicates_under_autocast = true;
  return r;
}

}  // namespace plumbline
