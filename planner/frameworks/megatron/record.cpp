// Megatron-LM, and Megatron-Bridge, which drives the same core from Python.
#include "planner/frameworks/framework.h"
#include "planner/frameworks/megatron/flag_rows.h"

namespace plumbline {
namespace {

constexpr std::string_view common_sources = "megatron/training/config/common_config.py and arguments.py";
constexpr std::string_view bridge_source = "src/megatron/bridge/training/config.py";

constexpr std::string_view mixed_precision_source = "src/megatron/bridge/training/mixed_precision.py";

/// Qwen2.5-0.5B (NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/recipes).
constexpr std::int64_t least_recipe = 494'000'000;

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

bool shards_lion_by_fsdp(const Strategy& s, const NetworkFacts& network) {
  return network.optimizer == Optimizer::lion && s.zero_stage >= 2;
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
  r.current_stack = "megatron-core-0.19";
  r.scope = FrameworkScope{.needs_bf16_units = true,
                           .needs_joined_devices = true,
                           .least_parameters = least_recipe,
                           .source = "Transformer Engine, README: Ampere or later; ROCm has its own"};
  r.revision = "NVIDIA/Megatron-LM d98e8a64dd (2026-08-22)";
  r.rules.push_back({"shards gradients or parameters (ZeRO-2, ZeRO-3) of Adam and SGD alone, not of Lion",
                     "megatron/training/arguments.py asserts: Megatron-FSDP", shards_lion_by_fsdp});
  r.schedules = {{Schedule::one_f_one_b, "without virtual stages", "megatron/core/pipeline_parallel/schedules.py"},
                 {Schedule::interleaved, "--num-virtual-stages-per-pipeline-rank", megatron::arguments_source}};
  r.recompute = {
      {RecomputeMode::none, "no --recompute flag", megatron::transformer_source},
      {RecomputeMode::selective, "--recompute-granularity selective", megatron::transformer_source},
      {RecomputeMode::modules, "--recompute-granularity selective --recompute-modules", megatron::transformer_source},
      {RecomputeMode::full, "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
       megatron::transformer_source},
      {RecomputeMode::uniform, "--recompute-granularity full --recompute-method uniform --recompute-num-layers N",
       megatron::transformer_source},
      {RecomputeMode::block, "--recompute-granularity full --recompute-method block --recompute-num-layers N",
       megatron::transformer_source},
      {RecomputeMode::square_root, "the same as uniform, N the square root of a chunk's layers",
       megatron::transformer_source},
      {RecomputeMode::offloaded, "--cpu-offloading-num-layers", megatron::model_parallel_source}};
  r.zero_stages = {{0, "no flag", megatron::arguments_source},
                   {1, "--use-distributed-optimizer", megatron::arguments_source},
                   {2, "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", common_sources},
                   {3, "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params", common_sources}};
  r.features = {{Feature::tensor_parallel, "--tensor-model-parallel-size", megatron::model_parallel_source},
                {Feature::sequence_parallel, "--sequence-parallel", megatron::model_parallel_source},
                {Feature::context_parallel, "--context-parallel-size", megatron::model_parallel_source},
                {Feature::head_exchange, "--cp-comm-type a2a", megatron::arguments_source},
                {Feature::expert_parallel, "--expert-model-parallel-size", megatron::model_parallel_source},
                {Feature::expert_tensor_parallel, "--expert-tensor-parallel-size", megatron::model_parallel_source},
                {Feature::pipeline, "--pipeline-model-parallel-size", megatron::model_parallel_source},
                {Feature::virtual_stages, "--num-virtual-stages-per-pipeline-rank", megatron::arguments_source},
                {Feature::hybrid_sharding, "--num-distributed-optimizer-instances", megatron::arguments_source},
                {Feature::uneven_split, "--pipeline-model-parallel-layout", megatron::arguments_source}};
  r.precisions = {
      {PrecisionRecipe::fp32, "neither --bf16 nor --fp16", megatron::model_parallel_source},
      {PrecisionRecipe::fp16, "--fp16", megatron::model_parallel_source},
      {PrecisionRecipe::bf16, "--bf16", megatron::model_parallel_source},
      {PrecisionRecipe::fp8, "--bf16 --fp8-format --fp8-recipe tensorwise", megatron::transformer_source},
      {PrecisionRecipe::fp8_delayed, "--bf16 --fp8-format --fp8-recipe delayed", megatron::transformer_source},
      {PrecisionRecipe::fp8_block, "--bf16 --fp8-format --fp8-recipe blockwise", megatron::transformer_source},
      {PrecisionRecipe::mxfp8, "--bf16 --fp8-format --fp8-recipe mxfp8", megatron::transformer_source},
      {PrecisionRecipe::nvfp4, "--bf16 --fp4-format e2m1 --fp4-recipe nvfp4", megatron::transformer_source}};
  r.optimizers = {{Optimizer::sgd, "--optimizer sgd --sgd-momentum 0", megatron::arguments_source},
                  {Optimizer::momentum, "--optimizer sgd", megatron::arguments_source},
                  {Optimizer::adam, "--optimizer adam", megatron::arguments_source},
                  {Optimizer::adamw, "--optimizer adam", megatron::arguments_source},
                  {Optimizer::lion, "--optimizer lion", megatron::arguments_source},
                  {Optimizer::muon, "--optimizer muon", megatron::arguments_source}};
  return r;
}

FrameworkRecord megatron_bridge_record() {
  FrameworkRecord r = megatron_lm_record();
  r.framework = Framework::megatron_bridge;
  r.title = "Megatron-Bridge";
  r.rules = core_record().rules;  // it has no parser that asserts
  r.stacks = {"Megatron-Bridge"};
  r.current_stack = "megatron-bridge-26.06";
  r.scope = FrameworkScope{
      .needs_nvidia = true,
      .needs_bf16_units = true,
      .needs_joined_devices = true,
      .least_parameters = least_recipe,
      .source = "NVIDIA NeMo Framework, requirements of its containers: GPUs of NVIDIA, Ampere or later"};
  r.adapters = "cfg.peft = LoRA(...)";
  r.adapters_source = "src/megatron/bridge/peft/lora.py";
  r.revision = "NVIDIA-NeMo/Megatron-Bridge 067f987df (2026-08-22)";
  r.schedules = {{Schedule::one_f_one_b, "without virtual stages", bridge_source},
                 {Schedule::interleaved, "cfg.model.virtual_pipeline_model_parallel_size", bridge_source}};
  r.recompute = {
      {RecomputeMode::none, "cfg.model.recompute_granularity = None", bridge_source},
      {RecomputeMode::selective, "cfg.model.recompute_granularity = \"selective\"", bridge_source},
      {RecomputeMode::modules, "cfg.model.recompute_modules", bridge_source},
      {RecomputeMode::full, "cfg.model.recompute_granularity = \"full\", recompute_method = \"uniform\"",
       bridge_source},
      {RecomputeMode::uniform, "cfg.model.recompute_method = \"uniform\", recompute_num_layers = N", bridge_source},
      {RecomputeMode::square_root, "the same as uniform, N the square root of a chunk's layers", bridge_source},
      {RecomputeMode::block, "cfg.model.recompute_method = \"block\", recompute_num_layers = N", bridge_source}};
  r.zero_stages = {
      {0, "cfg.ddp.use_distributed_optimizer = False", bridge_source},
      {1, "cfg.ddp.use_distributed_optimizer", bridge_source},
      {2, "cfg.ddp.use_megatron_fsdp, data_parallel_sharding_strategy = \"optim_grads\"", bridge_source},
      {3, "cfg.ddp.use_megatron_fsdp, data_parallel_sharding_strategy = \"optim_grads_params\"", bridge_source}};
  r.features = {{Feature::tensor_parallel, "cfg.model.tensor_model_parallel_size", bridge_source},
                {Feature::sequence_parallel, "cfg.model.sequence_parallel", bridge_source},
                {Feature::context_parallel, "cfg.model.context_parallel_size", bridge_source},
                {Feature::head_exchange, "cfg.model.cp_comm_type = \"a2a\"", bridge_source},
                {Feature::expert_parallel, "cfg.model.expert_model_parallel_size", bridge_source},
                {Feature::expert_tensor_parallel, "cfg.model.expert_tensor_parallel_size", bridge_source},
                {Feature::pipeline, "cfg.model.pipeline_model_parallel_size", bridge_source},
                {Feature::virtual_stages, "cfg.model.virtual_pipeline_model_parallel_size", bridge_source},
                {Feature::hybrid_sharding, "cfg.ddp.num_distributed_optimizer_instances",
                 "megatron/core/distributed/distributed_data_parallel_config.py"},
                {Feature::uneven_split, "cfg.model.pipeline_model_parallel_layout", bridge_source}};
  r.precisions = {
      {PrecisionRecipe::bf16, "cfg.mixed_precision = \"bf16_mixed\"", mixed_precision_source},
      {PrecisionRecipe::fp16, "cfg.mixed_precision = \"fp16_mixed\"", mixed_precision_source},
      {PrecisionRecipe::fp8, "cfg.mixed_precision = \"bf16_with_fp8_current_scaling_mixed\"", mixed_precision_source},
      {PrecisionRecipe::fp8_delayed, "cfg.mixed_precision = \"bf16_with_fp8_delayed_scaling_mixed\"",
       mixed_precision_source},
      {PrecisionRecipe::fp8_block, "cfg.mixed_precision = \"bf16_with_fp8_subchannel_scaling_mixed\"",
       mixed_precision_source},
      {PrecisionRecipe::mxfp8, "cfg.mixed_precision = \"bf16_with_mxfp8_mixed\"", mixed_precision_source},
      {PrecisionRecipe::nvfp4, "cfg.mixed_precision = \"bf16_with_nvfp4_mixed\"", mixed_precision_source}};
  r.optimizers.clear();  // the recipe, a Python function, makes it
  return r;
}

}  // namespace plumbline
