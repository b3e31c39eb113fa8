#include "planner/frameworks/deepspeed/config_keys.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/torch_optimizers.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Rows = std::vector<LaunchKey>;

constexpr std::string_view config = "deepspeed/runtime/config.py";
constexpr std::string_view constants = "deepspeed/runtime/constants.py";
constexpr std::string_view zero = "deepspeed/runtime/zero/config.py";
constexpr std::string_view offload = "deepspeed/runtime/zero/offload_config.py";
constexpr std::string_view precision = "deepspeed/runtime/precision_config.py";
constexpr std::string_view tensor_parallel = "deepspeed/runtime/tensor_parallel/config.py";
constexpr std::string_view expert_parallel = "deepspeed/module_inject/auto_ep_config.py";
/// The first release with a key among 0.16.0, 0.16.9, 0.17.6, 0.18.9 and 0.19.8, whose sources were read.
constexpr std::string_view with_autotp = "0.16.9";
constexpr std::string_view with_ulysses_sp = "0.17.6";
constexpr std::string_view with_bf16_states = "0.18.9";
constexpr std::string_view with_autoep = "0.19.8";
constexpr std::string_view checkpointing = "deepspeed/runtime/activation_checkpointing/config.py";

LaunchKey unmodelled(std::string_view path, std::string_view source, KeyEffect effect) {
  return {.path = path, .source = source, .effect = effect};
}

Rows harmless(std::string_view source, std::initializer_list<std::string_view> paths) {
  Rows rows;
  for (const std::string_view path : paths) rows.push_back({.path = path, .source = source});
  return rows;
}

Rows batch_keys() {
  return {{.path = "train_batch_size",
           .source = constants,
           .write = [](const Settings& s) { return written(s.global_batch); },
           .read = [](const Json& v, Settings& s) { s.global_batch = count_value(v, 1); }},
          {.path = "train_micro_batch_size_per_gpu",
           .source = constants,
           .write = [](const Settings& s) { return written(s.micro_batch); },
           .read = [](const Json& v, Settings& s) { s.micro_batch = count_value(v, 1); }},
          {.path = "gradient_accumulation_steps",
           .source = constants,
           .write = [](const Settings& s) { return written(s.micro_batches); },
           .read = [](const Json& v, Settings& s) { s.micro_batches = count_value(v, 1); }}};
}

Rows zero_keys() {
  return {{.path = "zero_optimization.stage",
           .source = zero,
           .write = [](const Settings& s) { return Json(std::int64_t{s.zero_stage.value_or(0)}); },
           .read = [](const Json& v,
                      Settings& s) { s.zero_stage = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, 3)); }},
          {.path = "zero_optimization.mics_shard_size",  // of older releases: 0.19.8 refuses it
           .source = zero,
           .read = [](const Json& v, Settings& s) { s.shard_group = degree_value(v); }},
          unmodelled("zero_optimization.offload_optimizer", offload, KeyEffect::decides),
          unmodelled("zero_optimization.offload_param", offload, KeyEffect::decides),
          unmodelled("zero_optimization.cpu_offload", zero, KeyEffect::decides),
          unmodelled("zero_optimization.cpu_offload_param", zero, KeyEffect::decides),
          unmodelled("zero_optimization.cpu_offload_params", zero, KeyEffect::decides),
          {.path = "zero_optimization.zero_hpz_partition_size",
           .source = zero,
           .write = [](const Settings& s) { return written_degree(s.secondary_shard_group); },
           .read = [](const Json& v, Settings& s) { s.secondary_shard_group = degree_value(v); }},
          unmodelled("zero_optimization.zero_quantized_weights", zero, KeyEffect::time),
          unmodelled("zero_optimization.zero_quantized_nontrainable_weights", zero, KeyEffect::memory_and_time),
          unmodelled("zero_optimization.zero_quantized_gradients", zero, KeyEffect::time),
          unmodelled("zero_optimization.mics_hierarchical_params_gather", zero, KeyEffect::time),
          unmodelled("zero_optimization.zenflow", zero, KeyEffect::memory_and_time),
          {.path = "zero_optimization.overlap_comm",
           .source = zero,
           .write =
               [](const Settings& s) {
                 const bool shards = s.zero_stage.value_or(0) > 0;
                 return shards ? std::optional<Json>(deepspeed_overlaps(s)) : std::nullopt;
               },
           .read = [](const Json& v, Settings& s) { s.choices.overlap = flag_value(v) ? "reductions" : "none"; }},
          unmodelled("zero_optimization.reduce_scatter", zero, KeyEffect::time),
          unmodelled("zero_optimization.reduce_bucket_size", zero, KeyEffect::memory),
          unmodelled("zero_optimization.allgather_bucket_size", zero, KeyEffect::memory),
          {.path = "zero_optimization.stage3_prefetch_bucket_size",
           .source = zero,
           .write =
               [](const Settings& s) {
                 return s.prefetch == ParameterPrefetch::off ? std::optional<Json>(0) : std::nullopt;
               },
           .read = [](const Json&, Settings& s) { s.prefetch = ParameterPrefetch::off; },
           .understands = [](const Json& v) { return v.if_integer() != nullptr && *v.if_integer() == 0; },
           .effect = KeyEffect::memory},
          unmodelled("zero_optimization.stage3_param_persistence_threshold", zero, KeyEffect::memory),
          unmodelled("zero_optimization.stage3_model_persistence_threshold", zero, KeyEffect::memory),
          unmodelled("zero_optimization.stage3_max_live_parameters", zero, KeyEffect::memory),
          unmodelled("zero_optimization.stage3_max_reuse_distance", zero, KeyEffect::memory),
          {.path = "zero_optimization.*", .source = zero}};
}

bool is_any(const Settings& s, std::initializer_list<PrecisionRecipe> recipes) {
  return s.precision && std::find(recipes.begin(), recipes.end(), *s.precision) != recipes.end();
}

/// fp32 is the absence of both.
LaunchKey sixteen_bits(std::string_view path, PrecisionRecipe recipe, std::initializer_list<PrecisionRecipe> written) {
  const std::vector<PrecisionRecipe> with(written);
  return {.path = path,
          .source = precision,
          .write =
              [with](const Settings& s) {
                return written_where(s.precision && std::find(with.begin(), with.end(), *s.precision) != with.end());
              },
          .read =
              [recipe](const Json& v, Settings& s) {
                if (flag_value(v)) s.precision = recipe;
              }};
}

/// Master weights, gradients and moments in bf16.
LaunchKey all_in_bf16(std::string_view path) {
  return {.path = path,
          .source = precision,
          .write = [](const Settings& s) { return written_where(is_any(s, {PrecisionRecipe::bf16_pure})); },
          .read =
              [](const Json& v, Settings& s) {
                if (flag_value(v) && is_any(s, {PrecisionRecipe::bf16})) s.precision = PrecisionRecipe::bf16_pure;
              },
          .since = with_bf16_states};
}

std::optional<NumberFormat> gradient_of(const Json& value) {
  const std::optional<NumberFormat> format = number_format_from_text(word_value(value));
  if (format != NumberFormat::fp32 && format != NumberFormat::fp16 && format != NumberFormat::bf16)
    throw InputError({"", "found \"" + word_value(value).substr(0, 40) + "\"", "fp32, fp16 or bf16", ""});
  return format;
}

Rows precision_keys() {
  return {sixteen_bits("bf16.enabled", PrecisionRecipe::bf16, {PrecisionRecipe::bf16, PrecisionRecipe::bf16_pure}),
          {.path = "bf16.bf16_master_weights_and_grads",
           .source = precision,
           .write = all_in_bf16("").write,
           .read = [](const Json& v, Settings&) { static_cast<void>(flag_value(v)); },
           .since = with_bf16_states},
          all_in_bf16("bf16.bf16_optimizer_states"),
          {.path = "bf16.*", .source = precision},
          sixteen_bits("fp16.enabled", PrecisionRecipe::fp16, {PrecisionRecipe::fp16}),
          unmodelled("fp16.fp16_master_weights_and_grads", precision, KeyEffect::memory),
          {.path = "fp16.*", .source = precision},
          {.path = "data_types.grad_accum_dtype",
           .source = constants,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!s.gradient_format) return std::nullopt;
             return Json(to_text(*s.gradient_format));
           },
           .read = [](const Json& v, Settings& s) { s.gradient_format = gradient_of(v); }},
          {.path = "communication_data_type",
           .source = constants,
           .write = [](const Settings& s) -> std::optional<Json> {
             const PrecisionRecipe recipe = s.precision.value_or(PrecisionRecipe::fp32);
             if (!s.gradient_format || *s.gradient_format == precision_formats(recipe).gradient) return std::nullopt;
             return Json(to_text(*s.gradient_format));
           },
           .effect = KeyEffect::time},
          unmodelled("torch_autocast", config, KeyEffect::memory_and_time),
          unmodelled("amp", config, KeyEffect::memory_and_time)};
}

Rows parallel_keys() {
  return {{.path = "tensor_parallel.autotp_size",
           .source = tensor_parallel,
           .write = [](const Settings& s) { return written_degree(s.tensor_parallel); },
           .read =
               [](const Json& v, Settings& s) {
                 s.tensor_parallel = count_value(v) == 0 ? 1 : degree_value(v);  // 0: off
               },
           .since = with_autotp},
          unmodelled("tensor_parallel.tp_overlap_comm", tensor_parallel, KeyEffect::time),
          {.path = "tensor_parallel.*", .source = tensor_parallel},
          {.path = "sequence_parallel_size",
           .source = config,
           .write = [](const Settings& s) { return written_degree(s.context_parallel); },
           .read =
               [](const Json& v, Settings& s) {
                 s.context_parallel = degree_value(v);
                 s.context_communication = ContextCommunication::all_to_all;
               },
           .since = with_ulysses_sp},
          {.path = "data_parallel_size",
           .source = "deepspeed/__init__.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (s.context_parallel.value_or(1) == 1 || !s.data_parallel) return std::nullopt;
             return Json(std::int64_t{*s.data_parallel});
           },
           .read = [](const Json& v, Settings& s) { s.data_parallel = degree_value(v); },
           .since = with_ulysses_sp},
          {.path = "expert_parallel.enabled",
           .source = expert_parallel,
           .write = [](const Settings& s) { return written_where(s.expert_parallel.value_or(1) > 1); },
           .read = [](const Json& v, Settings&) { static_cast<void>(flag_value(v)); },
           .since = with_autoep},
          {.path = "expert_parallel.autoep_size",
           .source = expert_parallel,
           .write = [](const Settings& s) { return written_degree(s.expert_parallel); },
           .read = [](const Json& v, Settings& s) { s.expert_parallel = degree_value(v); },
           .since = with_autoep},
          {.path = "expert_parallel.expert_tensor_parallel_size",
           .source = expert_parallel,
           .read = [](const Json& v, Settings& s) { s.expert_tensor_parallel = degree_value(v); }},
          {.path = "expert_parallel.*", .source = expert_parallel},
          {.path = "pipeline.stages",
           .source = config,
           .write = [](const Settings& s) { return written_degree(s.pipeline_stages); },
           .read = [](const Json& v, Settings& s) { s.pipeline_stages = degree_value(v); }}};
}

/// Outside of pipelines nothing of DeepSpeed reads the interval: the exported script does.
Rows recompute_keys() {
  return {{.path = "pipeline.activation_checkpoint_interval",
           .source = "deepspeed/runtime/pipe/engine.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!s.recompute) return std::nullopt;
             return Json(std::int64_t{s.recompute->mode == RecomputeMode::full ? 1 : 0});
           },
           .read =
               [](const Json& v, Settings& s) {
                 s.recompute = Recompute{count_value(v) == 0 ? RecomputeMode::none : RecomputeMode::full};
               }},
          {.path = "pipeline.*", .source = config},
          unmodelled("activation_checkpointing.partition_activations", checkpointing, KeyEffect::memory_and_time),
          unmodelled("activation_checkpointing.cpu_checkpointing", checkpointing, KeyEffect::memory_and_time),
          unmodelled("activation_checkpointing.contiguous_memory_optimization", checkpointing, KeyEffect::memory),
          {.path = "activation_checkpointing.*", .source = checkpointing}};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return text;
}

std::optional<Json> optimizer_name(const Settings& s) {
  if (!s.optimizer) return std::nullopt;
  return Json(torch_optimizer_of(*s.optimizer).class_name());
}

/// "Adam" is AdamW unless adam_w_mode says otherwise (config.py: ADAM_W_MODE_DEFAULT).
void read_optimizer(const Json& value, Settings& s) {
  for (const TorchOptimizer& one : torch_optimizers)
    if (lower(word_value(value)) == lower(std::string(one.class_name()))) {
      s.optimizer = one.optimizer == Optimizer::adam ? Optimizer::adamw : one.optimizer;
      return;
    }
}

/// Both or none.
std::optional<Json> betas(const Settings& s) {
  if (!s.optimizer || !s.recipe.beta1 || !s.recipe.beta2) return std::nullopt;
  return Json(Json::Array{*s.recipe.beta1, *s.recipe.beta2});
}
void read_betas(const Json& value, Settings& s) {
  const Json::Array* const both = value.if_array();
  if (both == nullptr || both->size() != 2) throw InputError({"", "not two numbers", "[beta1, beta2]", ""});
  s.recipe.beta1 = number_value((*both)[0]);
  s.recipe.beta2 = number_value((*both)[1]);
}

Rows optimizer_keys() {
  return {{.path = "optimizer.type", .source = config, .write = optimizer_name, .read = read_optimizer},
          {.path = "optimizer.params.lr",
           .source = config,
           .write = [](const Settings& s) { return s.optimizer ? written(s.recipe.learning_rate) : std::nullopt; },
           .read = [](const Json& v, Settings& s) { s.recipe.learning_rate = number_value(v); }},
          {.path = "optimizer.params.weight_decay",
           .source = config,
           .write = [](const Settings& s) { return s.optimizer ? written(s.recipe.weight_decay) : std::nullopt; },
           .read = [](const Json& v, Settings& s) { s.recipe.weight_decay = number_value(v); }},
          {.path = "optimizer.params.adam_w_mode",
           .source = config,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (s.optimizer != Optimizer::adam) return std::nullopt;
             return Json(false);
           },
           .read =
               [](const Json& v, Settings& s) {
                 if (!flag_value(v) && s.optimizer == Optimizer::adamw) s.optimizer = Optimizer::adam;
               }},
          {.path = "optimizer.params.momentum",
           .source = "torch/optim/sgd.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (s.optimizer == Optimizer::momentum) return Json(s.recipe.momentum.value_or(0.9));
             return s.optimizer ? written(s.recipe.momentum) : std::nullopt;
           },
           .read =
               [](const Json& v, Settings& s) {
                 if (number_value(v) > 0 && s.optimizer == Optimizer::sgd) s.optimizer = Optimizer::momentum;
                 if (number_value(v) > 0) s.recipe.momentum = number_value(v);
               }},
          {.path = "optimizer.params.betas", .source = config, .write = betas, .read = read_betas},
          {.path = "optimizer.params.eps",
           .source = config,
           .write = [](const Settings& s) { return s.optimizer ? written(s.recipe.epsilon) : std::nullopt; },
           .read = [](const Json& v, Settings& s) { s.recipe.epsilon = number_value(v); }},
          {.path = "optimizer.*", .source = config},
          {.path = "zero_allow_untested_optimizer",
           .source = constants,
           .write = [](const Settings& s) -> std::optional<Json> {
             const bool is_tested = !s.optimizer || s.optimizer == Optimizer::adam || s.optimizer == Optimizer::adamw;
             return written_where(!is_tested && s.zero_stage.value_or(0) > 0);
           }},
          {.path = "gradient_clipping",
           .source = constants,
           .write = [](const Settings& s) { return written(s.recipe.clip); },
           .read =
               [](const Json& v, Settings& s) {
                 if (number_value(v) > 0) s.recipe.clip = number_value(v);
               }}};
}

constexpr std::string_view schedules = "deepspeed/runtime/lr_schedules.py";
constexpr std::string_view constant_schedule = "WarmupLR";
constexpr std::string_view linear_schedule = "WarmupDecayLR";
constexpr std::string_view cosine_schedule = "WarmupCosineLR";

LaunchKey of_schedule(std::string_view path, std::function<void(const Json&, Settings&)> read) {
  return {.path = path, .source = schedules, .read = std::move(read)};
}

void read_schedule(const Json& value, Settings& s) {
  if (word_value(value) == constant_schedule) s.recipe.lr_schedule = LearningRateShape::constant;
  if (word_value(value) == linear_schedule) s.recipe.lr_schedule = LearningRateShape::linear;
  if (word_value(value) == cosine_schedule) s.recipe.lr_schedule = LearningRateShape::cosine;
}

/// Read and not written: DeepSpeed's schedules are a step behind those of a plan, so the exported script has its own.
Rows scheduler_keys() {
  return {of_schedule("scheduler.type", read_schedule),
          of_schedule("scheduler.params.warmup_num_steps",
                      [](const Json& v, Settings& s) { s.recipe.warmup_steps = count_value(v); }),
          of_schedule("scheduler.params.warmup_max_lr",
                      [](const Json& v, Settings& s) {
                        if (!s.recipe.learning_rate) s.recipe.learning_rate = number_value(v);
                      }),
          of_schedule("scheduler.params.total_num_steps",
                      [](const Json& v, Settings& s) { s.recipe.schedule_steps = count_value(v); }),
          of_schedule("scheduler.params.cos_min_ratio",
                      [](const Json& v, Settings& s) {
                        if (s.recipe.learning_rate)
                          s.recipe.final_learning_rate = rate_of_share(number_value(v), *s.recipe.learning_rate);
                      }),
          {.path = "scheduler.*", .source = schedules}};
}

Rows other_keys() {
  Rows rows{unmodelled("elasticity", config, KeyEffect::memory_and_time),
            unmodelled("autotuning", config, KeyEffect::memory_and_time),
            unmodelled("compression_training", config, KeyEffect::memory_and_time),
            unmodelled("quantize_training", config, KeyEffect::memory_and_time),
            unmodelled("weight_quantization", config, KeyEffect::memory_and_time),
            unmodelled("sparse_attention", config, KeyEffect::memory_and_time),
            unmodelled("hybrid_engine", config, KeyEffect::memory_and_time),
            unmodelled("progressive_layer_drop", config, KeyEffect::time),
            unmodelled("curriculum_learning", config, KeyEffect::memory_and_time),
            unmodelled("data_efficiency", config, KeyEffect::memory_and_time),
            unmodelled("compile", config, KeyEffect::memory_and_time),
            unmodelled("sparse_gradients", config, KeyEffect::time)};
  const Rows others = harmless(constants, {"steps_per_print",
                                           "wall_clock_breakdown",
                                           "memory_breakdown",
                                           "dump_state",
                                           "flops_profiler",
                                           "tensorboard",
                                           "wandb",
                                           "comet",
                                           "csv_monitor",
                                           "comms_logger",
                                           "checkpoint",
                                           "dataloader_drop_last",
                                           "prescale_gradients",
                                           "gradient_predivide_factor",
                                           "aio",
                                           "nebula",
                                           "vocabulary_size",
                                           "zero_force_ds_cpu_optimizer",
                                           "use_data_before_expert_parallelism",
                                           "disable_allgather",
                                           "timers",
                                           "seq_parallel_communication_data_type",
                                           "seq_parallel_comm_data_type",
                                           "data_types.*",
                                           "log_level",
                                           "graph_harvesting",
                                           "monitor_config",
                                           "comms_config",
                                           "datastates"});
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

Rows all_keys() {
  Rows all;
  for (const Rows& group : {batch_keys(), zero_keys(), precision_keys(), parallel_keys(), recompute_keys(),
                            optimizer_keys(), scheduler_keys(), other_keys()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

const std::vector<LaunchKey>& deepspeed_config_keys() {
  static const Rows keys = all_keys();
  return keys;
}

bool deepspeed_overlaps(const LaunchSettings& s) {
  return s.zero_stage.value_or(0) > 0 && s.pipeline_stages.value_or(1) == 1 && s.choices.overlap != "none";
}

void settle_deepspeed_overlap(LaunchSettings& s) {
  if (!s.zero_stage) return;
  std::string& overlap = s.choices.overlap;
  const bool is_behind = *s.zero_stage == 0 || s.pipeline_stages.value_or(1) > 1;
  if (is_behind || (overlap.empty() && *s.zero_stage < 3)) overlap = "none";
  if (*s.zero_stage == 3 && overlap == "none") s.prefetch = ParameterPrefetch::off;
}

}  // namespace plumbline
