// Megatron-LM, and Megatron-Bridge, which drives the same core from Python.
#include "planner/frameworks/framework.h"

namespace plumbline {
namespace {

constexpr std::string_view model_parallel = "megatron/core/model_parallel_config.py";
constexpr std::string_view transformer = "megatron/core/transformer/transformer_config.py";
constexpr std::string_view arguments = "megatron/training/arguments.py";
constexpr std::string_view common = "megatron/training/config/common_config.py and arguments.py";
constexpr std::string_view bridge = "src/megatron/bridge/training/config.py";

bool lacks_sequence_parallel(const Strategy& s, const NetworkFacts& network) {
  return network.has_experts && s.tensor_parallel > 1 && s.sequence_parallel == SequenceParallel::off;
}

bool offloads_in_pipeline(const Strategy& s, const NetworkFacts&) {
  return s.recompute.mode == RecomputeMode::offloaded && s.pipeline_stages > 1;
}

/// Muon orthogonalizes whole matrices.
bool shards_muon(const Strategy& s, const NetworkFacts& network) {
  return network.optimizer == Optimizer::muon && s.zero_stage > 0;
}

bool divides_experts_in_fp16(const Strategy& s, const NetworkFacts& network) {
  return network.precision == PrecisionRecipe::fp16 && s.expert_parallel > 1;
}

std::optional<InputProblem> muon_in_fp16(const NetworkFacts& network) {
  if (network.optimizer != Optimizer::muon || network.precision != PrecisionRecipe::fp16) return std::nullopt;
  return InputProblem{"--optimizer", "muon does not train in fp16 (megatron/core/optimizer/muon.py)",
                      "--precision bf16, or another optimizer", ""};
}

FrameworkRecord core_record() {
  FrameworkRecord record;
  record.rules = {{"trains experts under tensor parallelism with sequence parallelism alone",
                   "megatron/core/transformer/moe/moe_layer.py raises", lacks_sequence_parallel},
                  {"offloads activations without a pipeline alone",
                   "megatron/core/transformer/transformer_config.py raises", offloads_in_pipeline},
                  {"trains with Muon on whole states alone (ZeRO-0)",
                   "megatron/core/optimizer/muon.py raises, arguments.py asserts", shards_muon},
                  {"trains in fp16 without expert parallelism alone", "megatron/training/arguments.py asserts",
                   divides_experts_in_fp16}};
  record.network_problem = muon_in_fp16;
  record.defaults = {NumberFormat::fp32, "arguments.py: --bf16 accumulates in fp32 unless --grad-reduce-in-bf16",
                     "40 000 000 parameters, or 1 000 000 for each data-parallel rank where that is more",
                     "megatron/core/distributed/distributed_data_parallel_config.py"};
  return record;
}

}  // namespace

FrameworkRecord megatron_lm_record() {
  FrameworkRecord r = core_record();
  r.framework = Framework::megatron_lm;
  r.title = "Megatron-LM";
  r.stacks = {"Megatron-Core", "Megatron-LM"};
  r.current_stack = "megatron-core";
  r.revision = "NVIDIA/Megatron-LM d98e8a64dd (2026-08-22)";
  r.schedules = {{Schedule::one_f_one_b, "without virtual stages", "megatron/core/pipeline_parallel/schedules.py"},
                 {Schedule::interleaved, "--num-virtual-stages-per-pipeline-rank", arguments}};
  r.recompute = {{RecomputeMode::none, "no --recompute flag", transformer},
                 {RecomputeMode::selective, "--recompute-granularity selective", transformer},
                 {RecomputeMode::modules, "--recompute-granularity selective --recompute-modules", transformer},
                 {RecomputeMode::full,
                  "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1", transformer},
                 {RecomputeMode::offloaded, "--cpu-offloading-num-layers", model_parallel}};
  r.zero_stages = {{0, "no flag", arguments},
                   {1, "--use-distributed-optimizer", arguments},
                   {2, "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", common},
                   {3, "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params", common}};
  r.features = {{Feature::tensor_parallel, "--tensor-model-parallel-size", model_parallel},
                {Feature::sequence_parallel, "--sequence-parallel", model_parallel},
                {Feature::context_parallel, "--context-parallel-size", model_parallel},
                {Feature::expert_parallel, "--expert-model-parallel-size", model_parallel},
                {Feature::expert_tensor_parallel, "--expert-tensor-parallel-size", model_parallel},
                {Feature::pipeline, "--pipeline-model-parallel-size", model_parallel},
                {Feature::virtual_stages, "--num-virtual-stages-per-pipeline-rank", arguments},
                {Feature::hybrid_sharding, "--num-distributed-optimizer-instances", arguments},
                {Feature::uneven_split, "--pipeline-model-parallel-layout", arguments}};
  r.precisions = {{PrecisionRecipe::fp32, "neither --bf16 nor --fp16", model_parallel},
                  {PrecisionRecipe::fp16, "--fp16", model_parallel},
                  {PrecisionRecipe::bf16, "--bf16", model_parallel},
                  {PrecisionRecipe::fp8, "--bf16 --fp8-format --fp8-recipe tensorwise", transformer},
                  {PrecisionRecipe::fp8_delayed, "--bf16 --fp8-format --fp8-recipe delayed", transformer},
                  {PrecisionRecipe::fp8_block, "--bf16 --fp8-format --fp8-recipe blockwise", transformer},
                  {PrecisionRecipe::mxfp8, "--bf16 --fp8-format --fp8-recipe mxfp8", transformer},
                  {PrecisionRecipe::nvfp4, "--bf16 --fp4-format e2m1 --fp4-recipe nvfp4", transformer}};
  r.optimizers = {{Optimizer::sgd, "--optimizer sgd --sgd-momentum 0", arguments},
                  {Optimizer::momentum, "--optimizer sgd", arguments},
                  {Optimizer::adam, "--optimizer adam", arguments},
                  {Optimizer::adamw, "--optimizer adam", arguments},
                  {Optimizer::lion, "--optimizer lion", arguments},
                  {Optimizer::muon, "--optimizer muon", arguments}};
  return r;
}

FrameworkRecord megatron_bridge_record() {
  FrameworkRecord r = megatron_lm_record();
  r.framework = Framework::megatron_bridge;
  r.title = "Megatron-Bridge";
  r.stacks = {"Megatron-Bridge"};
  r.current_stack = "megatron-bridge-26.06";
  r.adapters = "cfg.peft = LoRA(...)";
  r.adapters_source = "src/megatron/bridge/peft/lora.py";
  r.revision = "NVIDIA-NeMo/Megatron-Bridge 067f987df (2026-08-22)";
  r.schedules = {{Schedule::one_f_one_b, "without virtual stages", bridge},
                 {Schedule::interleaved, "cfg.model.virtual_pipeline_model_parallel_size", bridge}};
  r.recompute = {
      {RecomputeMode::none, "cfg.model.recompute_granularity = None", bridge},
      {RecomputeMode::selective, "cfg.model.recompute_granularity = \"selective\"", bridge},
      {RecomputeMode::modules, "cfg.model.recompute_modules", bridge},
      {RecomputeMode::full, "cfg.model.recompute_granularity = \"full\", recompute_method = \"uniform\"", bridge}};
  r.zero_stages = {{0, "cfg.ddp.use_distributed_optimizer = False", bridge},
                   {1, "cfg.ddp.use_distributed_optimizer", bridge},
                   {2, "cfg.ddp.use_megatron_fsdp, data_parallel_sharding_strategy = \"optim_grads\"", bridge},
                   {3, "cfg.ddp.use_megatron_fsdp, data_parallel_sharding_strategy = \"optim_grads_params\"", bridge}};
  r.features = {{Feature::tensor_parallel, "cfg.model.tensor_model_parallel_size", bridge},
                {Feature::sequence_parallel, "cfg.model.sequence_parallel", bridge},
                {Feature::context_parallel, "cfg.model.context_parallel_size", bridge},
                {Feature::expert_parallel, "cfg.model.expert_model_parallel_size", bridge},
                {Feature::expert_tensor_parallel, "cfg.model.expert_tensor_parallel_size", bridge},
                {Feature::pipeline, "cfg.model.pipeline_model_parallel_size", bridge},
                {Feature::virtual_stages, "cfg.model.virtual_pipeline_model_parallel_size", bridge},
                {Feature::uneven_split, "cfg.model.pipeline_model_parallel_layout", bridge}};
  r.precisions = {{PrecisionRecipe::bf16, "cfg.mixed_precision = bf16_mixed()", bridge}};
  r.optimizers.clear();  // the recipe, a Python function, makes it
  return r;
}

}  // namespace plumbline
