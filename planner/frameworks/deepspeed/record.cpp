// DeepSpeed: a JSON of its engine, alongside a script that makes the model.
#include "planner/frameworks/framework.h"
#include "planner/frameworks/launch/torch_optimizers.h"

namespace plumbline {
namespace {

constexpr std::string_view zero_source = "deepspeed/runtime/zero/config.py";
constexpr std::string_view pipe_module_source = "deepspeed/runtime/pipe/module.py";
constexpr std::string_view pipe_engine_source = "deepspeed/runtime/pipe/engine.py";
constexpr std::string_view constants_source = "deepspeed/runtime/constants.py";
constexpr std::string_view initialize_source = "deepspeed/__init__.py: mpu must be None with pipeline parallelism";
constexpr std::string_view precision_source = "deepspeed/runtime/precision_config.py";

constexpr std::string_view ulysses_source = "deepspeed/runtime/sequence_parallel/ulysses_sp.py";

bool passes_keys_on(const Strategy& s, const NetworkFacts&) {
  return s.context_parallel > 1 && s.context_communication == ContextCommunication::ring;
}

bool quantizes_states(const Strategy&, const NetworkFacts& network) {
  return facts(network.optimizer).quantizes_states;
}

bool shards_gradients_in_pipeline(const Strategy& s, const NetworkFacts&) {
  return s.pipeline_stages > 1 && s.zero_stage >= 2;
}

/// AutoTP takes its groups from a mesh of data and tensor ranks over the whole world (_init_tp_mesh_device), Ulysses
/// from a mesh of data and sequence ranks: together they would count a rank twice. With AutoEP the engine says so
/// itself (module_inject/auto_ep_folding.py: "mutually exclusive").
bool splits_tensors_and_sequences(const Strategy& s, const NetworkFacts&) {
  return s.tensor_parallel > 1 && s.context_parallel > 1;
}

/// AutoTP's data-parallel ranks are world / tp, those of PipelineModule's grid world / stages; the pipeline's engine
/// asserts that they are as many, and takes no groups of the script's.
bool splits_tensors_in_pipeline(const Strategy& s, const NetworkFacts&) {
  return s.tensor_parallel > 1 && s.pipeline_stages > 1;
}

/// What shares sequences is handed to `initialize` as mpu.
bool splits_sequences_in_pipeline(const Strategy& s, const NetworkFacts&) {
  return s.context_parallel > 1 && s.pipeline_stages > 1;
}

/// _do_sanity_check of the configuration asserts it of both keys that the recipe is written as.
bool keeps_all_in_bf16_unsharded(const Strategy& s, const NetworkFacts& network) {
  return network.precision == PrecisionRecipe::bf16_pure && s.zero_stage == 0;
}

/// Its groups are of ranks that follow one another, whatever tensor-parallel ranks there are.
bool keeps_secondary_shards_of_tensor_ranks(const Strategy& s, const NetworkFacts&) {
  return s.secondary_shard_group > 1 && s.tensor_parallel > 1;
}

bool spreads_experts_and_sequences_and_parameters(const Strategy& s, const NetworkFacts&) {
  return s.expert_parallel > 1 && s.context_parallel > 1 && s.zero_stage == 3;
}

}  // namespace

FrameworkRecord deepspeed_record() {
  FrameworkRecord r;
  r.framework = Framework::deepspeed;
  r.title = "DeepSpeed";
  r.stacks = {"DeepSpeed"};
  r.current_stack = "deepspeed-2024";
  r.scope = FrameworkScope{.has_every_network = true, .source = "deepspeed.initialize takes any torch.nn.Module"};
  r.adapters = "get_peft_model(model, LoraConfig(...)), or deepspeed.linear.LoRAConfig";
  r.adapters_source = "huggingface/peft docs/source/accelerate/deepspeed.md; deepspeed/linear/config.py";
  r.revision = "deepspeed 0.19.8, as released on the Python package index";
  r.schedules = {{Schedule::one_f_one_b, "PipelineModule", "deepspeed/runtime/pipe/schedule.py: TrainSchedule"}};
  r.recompute = {{RecomputeMode::none, "pipeline.activation_checkpoint_interval 0", pipe_module_source},
                 {RecomputeMode::full, "pipeline.activation_checkpoint_interval 1", pipe_module_source}};
  r.zero_stages = {{0, "zero_optimization.stage 0", zero_source},
                   {1, "zero_optimization.stage 1", zero_source},
                   {2, "zero_optimization.stage 2", zero_source},
                   {3, "zero_optimization.stage 3", zero_source}};
  r.features = {
      {Feature::tensor_parallel, "tensor_parallel.autotp_size", "deepspeed/runtime/tensor_parallel/config.py"},
      {Feature::context_parallel, "sequence_parallel_size (Ulysses)", "deepspeed/runtime/config.py"},
      {Feature::head_exchange, "sequence_parallel_size (Ulysses)", ulysses_source},
      {Feature::expert_parallel, "expert_parallel.autoep_size", "docs/_pages/config-json.md"},
      {Feature::no_prefetch, "zero_optimization.stage3_prefetch_bucket_size 0", zero_source},
      {Feature::secondary_shards, "zero_optimization.zero_hpz_partition_size", zero_source},
      {Feature::pipeline, "PipelineModule(num_stages=N)",
       pipe_module_source}};  // MiCS (shard groups) is gone in 0.19.8
  r.precisions = {{PrecisionRecipe::fp32, "neither bf16 nor fp16", precision_source},
                  {PrecisionRecipe::fp16, "fp16.enabled", precision_source},
                  {PrecisionRecipe::bf16, "bf16.enabled", precision_source},
                  {PrecisionRecipe::bf16_pure, "bf16.bf16_master_weights_and_grads and bf16.bf16_optimizer_states",
                   constants_source}};
  r.rules = {{"shards no gradients or parameters (ZeRO-2, ZeRO-3) in a pipeline", pipe_engine_source,
              shards_gradients_in_pipeline},
             {"divides sequences by all-to-all alone (Ulysses, --cp-comm all-to-all) and has no ring attention",
              ulysses_source, passes_keys_on},
             {"joins no tensor with context parallelism: its groups are of data-parallel ranks and of one of the two",
              "deepspeed/utils/groups.py: _init_tp_mesh_device", splits_tensors_and_sequences},
             {"splits no tensors in a pipeline: AutoTP and the pipeline count data-parallel ranks each its own way",
              "deepspeed/runtime/pipe/engine.py asserts dp_world_size", splits_tensors_in_pipeline},
             {"splits no sequences in a pipeline: their groups are an mpu, of which a pipeline takes none",
              initialize_source, splits_sequences_in_pipeline},
             {"spreads experts (AutoEP) with ZeRO-3 without context parallelism alone",
              "deepspeed/runtime/engine.py: _validate_zero3_moe_compatibility raises",
              spreads_experts_and_sequences_and_parameters},
             {"keeps secondary shards (hpZ) without tensor parallelism alone",
              "deepspeed/utils/groups.py: _create_zero_param_parallel_group", keeps_secondary_shards_of_tensor_ranks},
             {"keeps master weights and moments in bf16 (bf16-pure) with ZeRO-1, ZeRO-2 or ZeRO-3 alone",
              "deepspeed/runtime/config.py: _do_sanity_check asserts", keeps_all_in_bf16_unsharded},
             whole_parameters_rule(),
             {"names no optimizer of bitsandbytes in its configuration",
              "deepspeed/runtime/engine.py: _configure_basic_optimizer", quantizes_states}};
  r.defaults = {NumberFormat::bf16, "runtime/constants.py: without data_types.grad_accum_dtype that of the model",
                "reduce_bucket_size 500 000 000 elements", zero_source};
  return r;
}

}  // namespace plumbline
