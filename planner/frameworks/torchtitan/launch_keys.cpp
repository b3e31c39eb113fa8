#include "planner/frameworks/torchtitan/launch_keys.h"

#include <algorithm>
#include <limits>

#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/torch/schedule_names.h"
#include "planner/frameworks/torchtitan/flavors.h"
#include "planner/frameworks/torchtitan/model_parts.h"

namespace plumbline::torchtitan {
namespace {

constexpr std::string_view job_config = "torchtitan/config/job_config.py";
constexpr std::string_view configs = "torchtitan/config/configs.py";

using Settings = LaunchSettings;
using Written = std::optional<Json>;

template <class Value>
Written written(const std::optional<Value>& value) {
  return value ? Written(Json(*value)) : std::nullopt;
}
Written written(const std::optional<std::int32_t>& value) {
  return value ? Written(Json(std::int64_t{*value})) : std::nullopt;
}

/// Up to 2^48: products of a few of them with degrees still fit.
std::int64_t integer(const Json& value, std::int64_t smallest) {
  return JsonPlace(value, "").integer(smallest, std::int64_t{1} << 48);
}
std::int32_t degree(const Json& value) {
  return static_cast<std::int32_t>(JsonPlace(value, "").integer(1, std::int64_t{1} << 24));
}
double number(const Json& value) {
  return JsonPlace(value, "").number(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
}

/// For keys that `settle` takes: only their type.
void whole_number(const Json& value, Settings&) { (void)integer(value, -1); }
void text(const Json& value, Settings&) { (void)word_value(value); }
void anything(const Json&, Settings&) {}

bool has_pipeline(const Settings& s) { return s.pipeline_stages.value_or(1) > 1; }
bool shards(const Settings& s) { return s.zero_stage.value_or(0) > 0; }

Written replicas(const Settings& s) {
  if (!s.data_parallel) return std::nullopt;
  return Json(shards(s) ? gradient_ranks(s) / std::max<std::int64_t>(1, sharding_ranks(s))
                        : std::int64_t{*s.data_parallel});
}
/// torchtitan shards over these and the context-parallel ranks.
Written sharders(const Settings& s) {
  if (!s.data_parallel) return std::nullopt;
  return Json(shards(s) ? std::max<std::int64_t>(1, sharding_ranks(s) / s.context_parallel.value_or(1))
                        : std::int64_t{1});
}
Written reshard(const Settings& s) {
  return shards(s) ? Written(Json(*s.zero_stage == 3 ? "always" : "never")) : std::nullopt;
}

/// Sequences of one forward of all of a rank's micro-batches: a pipeline takes them at once.
Written local_batch(const Settings& s) {
  if (!s.micro_batch) return std::nullopt;
  return Json(*s.micro_batch * (has_pipeline(s) ? s.micro_batches.value_or(1) : 1));
}
Written pipeline_micro_batch(const Settings& s) { return has_pipeline(s) ? written(s.micro_batch) : std::nullopt; }
Written tokens(const Settings& s, const std::optional<std::int64_t>& sequences) {
  if (!sequences || !s.sequence_length) return std::nullopt;
  return Json(*sequences * *s.sequence_length);
}

Written parts(const Settings& s, std::string_view output_module) {
  if (!has_pipeline(s)) return std::nullopt;
  if (!s.layers_per_stage.empty()) return module_parts(s.layers_per_stage, output_module);
  const std::optional<std::int64_t> layers = known_layers(s);
  const std::int64_t chunks = std::int64_t{*s.pipeline_stages} * s.virtual_stages.value_or(1);
  return layers ? Written(module_parts(even_split(*layers, chunks), output_module)) : std::nullopt;
}
/// Where the layers are not known an even split is one without allowance for the embedding and the output.
Written no_allowance(const Settings& s) {
  return has_pipeline(s) && s.layers_per_stage.empty() && !known_layers(s) ? Written(Json(std::int64_t{0}))
                                                                           : std::nullopt;
}

Written schedule_csv(const Settings& s) {
  if (!has_pipeline(s) || !s.schedule || torch::is_by_name(*s.schedule)) return std::nullopt;
  return Json(torch::schedule_file(*s.schedule));
}

Written flavor_key(const Settings& s, std::string_view Flavor::*name, std::string_view otherwise) {
  const Flavor* const flavor = flavor_of(s.model);
  return Json(flavor != nullptr ? flavor->*name : otherwise);
}

Written assets(const Settings& s) {
  const Flavor* const flavor = flavor_of(s.model);
  if (flavor == nullptr) return std::nullopt;
  return Json("./assets/hf/" + std::string(flavor->checkpoint));
}

Written dtype(const Settings& s) {
  return s.precision == PrecisionRecipe::bf16_pure ? Written(Json("bfloat16")) : std::nullopt;
}
Written compute_format(const Settings& s) {
  if (!s.precision) return std::nullopt;
  return Json(s.precision == PrecisionRecipe::fp32 ? "float32" : "bfloat16");
}
bool in_float8(const Settings& s) {
  return s.precision == PrecisionRecipe::fp8 || s.precision == PrecisionRecipe::fp8_row;
}
Written float8_recipe(const Settings& s) {
  return s.precision == PrecisionRecipe::fp8_row ? Written(Json("rowwise")) : std::nullopt;
}
Written converters(const Settings& s) {
  if (s.precision == PrecisionRecipe::mxfp8) return Written(Json(Json::Array{Json("quantize.linear.mx")}));
  return in_float8(s) ? Written(Json(Json::Array{Json("quantize.linear.float8")})) : std::nullopt;
}
/// What stays in 16 bits, as torchtitan's own files have it.
Written kept_in_16_bits(const Settings& s) {
  if (!in_float8(s)) return std::nullopt;
  return Json(Json::Array{Json("output"), Json("router.gate")});
}

Written recompute_mode(const Settings& s) {
  if (!s.recompute) return std::nullopt;
  const RecomputeMode mode = s.recompute->mode;
  return Json(mode == RecomputeMode::none ? "none" : mode == RecomputeMode::full ? "full" : "selective");
}
Written recompute_option(const Settings& s) {
  if (!s.recompute) return std::nullopt;
  if (s.recompute->mode == RecomputeMode::by_operator) return Json("op");
  if (s.recompute->mode == RecomputeMode::every_nth) return Json(std::to_string(s.recompute->n));
  return std::nullopt;
}

Written optimizer_name(const Settings& s) {
  return s.optimizer ? Written(Json(s.optimizer == Optimizer::adam ? "Adam" : "AdamW")) : std::nullopt;
}
void read_optimizer(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  if (name != "Adam" && name != "AdamW") return;  // settle() names it
  s.optimizer = name == "Adam" ? Optimizer::adam : Optimizer::adamw;
}

Written sequence_parallel(const Settings& s) {
  if (s.tensor_parallel.value_or(1) == 1) return std::nullopt;
  return Json(s.sequence_parallel.value_or(SequenceParallel::on) == SequenceParallel::on);
}

LaunchKey of_toml(std::string_view path, std::optional<double> LaunchRecipe::*member) {
  LaunchKey key = recipe_number(path, job_config, member);
  key.until = toml_release;
  return key;
}

std::vector<LaunchKey> model_keys() {
  return {
      {.path = "model.name",
       .source = job_config,
       .write = [](const Settings& s) { return flavor_key(s, &Flavor::model, s.model); },
       .read = text},
      {.path = "model.flavor",
       .source = job_config,
       .write = [](const Settings& s) { return flavor_key(s, &Flavor::flavor, "YOUR-FLAVOR"); },
       .read = text},
      {.path = "model.hf_assets_path", .source = job_config, .write = assets, .read = text},
      {.path = "model.converters", .source = job_config, .write = converters, .read = anything, .until = toml_release},
      {.path = "optimizer.name",
       .source = job_config,
       .write = optimizer_name,
       .read = read_optimizer,
       .until = toml_release},
      of_toml("optimizer.lr", &LaunchRecipe::learning_rate),
      of_toml("optimizer.weight_decay", &LaunchRecipe::weight_decay),
      of_toml("optimizer.beta1", &LaunchRecipe::beta1),
      of_toml("optimizer.beta2", &LaunchRecipe::beta2),
      of_toml("optimizer.eps", &LaunchRecipe::epsilon)};
}

/// The decay of the last tenth of the steps is the schedule wsd (runtime/training/learning_rate.h).
constexpr double stable_decay_ratio = 0.1;

Written decay_type(const Settings& s) {
  if (!s.recipe.lr_schedule) return std::nullopt;
  switch (*s.recipe.lr_schedule) {
    case LearningRateShape::constant:
    case LearningRateShape::linear:
    case LearningRateShape::stable_then_decay: return Json("linear");
    case LearningRateShape::cosine: return Json("cosine");
    default: return std::nullopt;
  }
}
void read_decay_type(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  if (name == "linear") s.recipe.lr_schedule = LearningRateShape::linear;
  if (name == "cosine") s.recipe.lr_schedule = LearningRateShape::cosine;
}
/// Without a ratio the decay begins behind the warm-up.
Written decay_ratio(const Settings& s) {
  if (s.recipe.lr_schedule == LearningRateShape::constant) return Json(0.0);
  if (s.recipe.lr_schedule == LearningRateShape::stable_then_decay) return Json(stable_decay_ratio);
  return std::nullopt;
}
void read_decay_ratio(const Json& value, Settings& s) {
  const double ratio = number(value);
  const bool is_linear = s.recipe.lr_schedule.value_or(LearningRateShape::linear) == LearningRateShape::linear;
  if (ratio == 0)
    s.recipe.lr_schedule = LearningRateShape::constant;
  else if (ratio == stable_decay_ratio && is_linear)
    s.recipe.lr_schedule = LearningRateShape::stable_then_decay;
  else
    s.recipe.lr_schedule.reset();
}

/// In this order: later rows need the earlier.
std::vector<LaunchKey> schedule_keys() {
  return {recipe_count("lr_scheduler.warmup_steps", job_config, &LaunchRecipe::warmup_steps),
          recipe_count("lr_scheduler.total_steps", job_config, &LaunchRecipe::schedule_steps, 1),
          {.path = "lr_scheduler.decay_type", .source = job_config, .write = decay_type, .read = read_decay_type},
          {.path = "lr_scheduler.decay_ratio", .source = job_config, .write = decay_ratio, .read = read_decay_ratio},
          {.path = "lr_scheduler.min_lr_factor",
           .source = job_config,
           .write = [](const Settings& s) -> Written {
             if (!s.recipe.final_learning_rate || s.recipe.learning_rate.value_or(0) <= 0) return std::nullopt;
             return Json(*s.recipe.final_learning_rate / *s.recipe.learning_rate);
           },
           .read =
               [](const Json& v, Settings& s) {
                 if (s.recipe.learning_rate)
                   s.recipe.final_learning_rate = rate_of_share(number(v), *s.recipe.learning_rate);
               },
           .until = toml_release},
          {.path = "checkpoint.enable",
           .source = job_config,
           .write = [](const Settings& s) { return written_where(checkpoint_interval(s.recipe).has_value()); },
           .read = [](const Json& v, Settings&) { (void)JsonPlace(v, "").boolean(); }},
          recipe_interval("checkpoint.interval", job_config),
          recipe_folder("checkpoint.folder", job_config)};
}

std::vector<LaunchKey> batch_keys() {
  return {{.path = "training.local_batch_size",
           .source = job_config,
           .write = local_batch,
           .read = whole_number,
           .until = first_recipe_release},
          {.path = "training.global_batch_size",
           .source = job_config,
           .write = [](const Settings& s) { return written(s.global_batch); },
           .read = whole_number,
           .until = first_recipe_release},
          {.path = "training.seq_len",
           .source = job_config,
           .write = [](const Settings& s) { return written(s.sequence_length); },
           .read = [](const Json& v, Settings& s) { s.sequence_length = integer(v, 1); },
           .until = first_recipe_release},
          {.path = "training.max_context_length",
           .source = configs,
           .write = [](const Settings& s) { return written(s.sequence_length); },
           .read = [](const Json& v, Settings& s) { s.sequence_length = integer(v, 1); },
           .since = recipe_release},
          {.path = "training.num_tokens_per_microbatch_per_dp_rank",
           .source = configs,
           .write = [](const Settings& s) { return tokens(s, s.micro_batch); },
           .read = whole_number,
           .since = recipe_release},
          {.path = "training.num_tokens_per_train_step",
           .source = configs,
           .write = [](const Settings& s) { return tokens(s, s.global_batch); },
           .read = whole_number,
           .since = recipe_release}};
}

std::vector<LaunchKey> training_keys() {
  return {{.path = "training.steps",
           .source = job_config,
           .write = [](const Settings& s) { return written(s.recipe.steps); },
           .read = [](const Json& v, Settings& s) { s.recipe.steps = integer(v, 0); }},
          {.path = "training.max_norm",
           .source = job_config,
           .write = [](const Settings& s) { return written(s.recipe.clip); },
           .read = [](const Json& v, Settings& s) { s.recipe.clip = number(v); }},
          {.path = "training.dtype", .source = job_config, .write = dtype, .read = text},
          {.path = "training.mixed_precision_param", .source = job_config, .write = compute_format, .read = text},
          {.path = "debug.seed",
           .source = job_config,
           .write = [](const Settings& s) { return written(s.recipe.seed); },
           .read = [](const Json& v, Settings& s) { s.recipe.seed = integer(v, std::numeric_limits<int>::min()); }},
          {.path = "training.seed",
           .source = "job_config.py up to v0.2.0",
           .read = [](const Json& v, Settings& s) { s.recipe.seed = integer(v, std::numeric_limits<int>::min()); }},
          {.path = "activation_checkpoint.mode", .source = job_config, .write = recompute_mode, .read = text},
          {.path = "activation_checkpoint.selective_ac_option",
           .source = job_config,
           .write = recompute_option,
           .read = text,
           .until = toml_release},
          {.path = "quantize.linear.float8.recipe_name",
           .source = job_config,
           .write = float8_recipe,
           .read = anything,
           .until = toml_release},
          {.path = "quantize.linear.float8.filter_fqns",
           .source = job_config,
           .write = kept_in_16_bits,
           .read = anything,
           .until = toml_release},
          {.path = "compile.enable",
           .source = job_config,
           .write = [](const Settings&) { return Written(Json(true)); },
           .read = [](const Json& v, Settings&) { (void)JsonPlace(v, "").boolean(); }}};
}

std::vector<LaunchKey> parallel_keys() {
  const auto own = [](std::string_view path, std::optional<std::int32_t> Settings::*axis) {
    return LaunchKey{.path = path,
                     .source = job_config,
                     .write = [axis](const Settings& s) { return written(s.*axis); },
                     .read = [axis](const Json& v, Settings& s) { s.*axis = degree(v); }};
  };
  LaunchKey expert_tensor = own("parallelism.expert_tensor_parallel_degree", &Settings::expert_tensor_parallel);
  expert_tensor.until = toml_release;
  return {
      {.path = "parallelism.data_parallel_replicate_degree",
       .source = job_config,
       .write = replicas,
       .read = [](const Json& v, Settings&) { (void)degree(v); }},
      {.path = "parallelism.data_parallel_shard_degree", .source = job_config, .write = sharders, .read = whole_number},
      {.path = "parallelism.fsdp_reshard_after_forward", .source = job_config, .write = reshard, .read = text},
      own("parallelism.tensor_parallel_degree", &Settings::tensor_parallel),
      {.path = "parallelism.enable_sequence_parallel",
       .source = configs,
       .write = sequence_parallel,
       .read = anything,
       .since = first_recipe_release},
      own("parallelism.context_parallel_degree", &Settings::context_parallel),
      own("parallelism.expert_parallel_degree", &Settings::expert_parallel),
      expert_tensor};
}

std::vector<LaunchKey> pipeline_keys() {
  return {
      {.path = "parallelism.pipeline_parallel_degree",
       .source = job_config,
       .write = [](const Settings& s) { return written(s.pipeline_stages); },
       .read = [](const Json& v, Settings& s) { s.pipeline_stages = degree(v); }},
      {.path = "parallelism.pipeline_parallel_schedule",
       .source = job_config,
       .write =
           [](const Settings& s) {
             return has_pipeline(s) && s.schedule ? Written(Json(torch::schedule_name(*s.schedule))) : std::nullopt;
           },
       .read = text},
      {.path = "parallelism.pipeline_parallel_schedule_csv", .source = job_config, .write = schedule_csv, .read = text},
      {.path = "parallelism.pipeline_parallel_microbatch_size",
       .source = job_config,
       .write = pipeline_micro_batch,
       .read = whole_number,
       .until = first_recipe_release},
      {.path = "parallelism.num_pp_microbatches",
       .source = configs,
       .write = [](const Settings& s) { return has_pipeline(s) ? written(s.micro_batches) : Written(); },
       .read = whole_number,
       .since = recipe_release},
      {.path = "parallelism.pipeline_parallel_first_stage_less_layers",
       .source = job_config,
       .write = no_allowance,
       .read = whole_number},
      {.path = "parallelism.pipeline_parallel_last_stage_less_layers",
       .source = job_config,
       .write = no_allowance,
       .read = whole_number},
      {.path = "parallelism.pipeline_parallel_layers_per_stage", .source = job_config, .read = whole_number},
      {.path = "parallelism.module_fqns_per_model_part",
       .source = job_config,
       .write = [](const Settings& s) { return parts(s, "output"); },
       .read = anything,
       .until = toml_release},
      {.path = "parallelism.module_fqns_per_model_part",
       .source = configs,
       .write = [](const Settings& s) { return parts(s, "lm_head"); },
       .read = anything,
       .since = first_recipe_release}};
}

/// Names that keys had before v0.2.2, and keys that `settle` names where they are not as usual.
std::vector<LaunchKey> other_keys() {
  constexpr std::string_view before = "job_config.py before v0.2.2";
  std::vector<LaunchKey> all;
  for (const std::string_view path : {"training.batch_size", "parallelism.pipeline_parallel_microbatches"})
    all.push_back({.path = path, .source = before, .read = whole_number});
  for (const std::string_view path : {"training.compile", "training.mixed_precision_reduce", "model.tokenizer_path"})
    all.push_back({.path = path, .source = before, .read = anything});
  for (const std::string_view path :
       {"training.enable_cpu_offload", "parallelism.enable_async_tensor_parallel", "parallelism.disable_loss_parallel",
        "parallelism.context_parallel_rotate_method", "parallelism.context_parallel_load_balancer",
        "parallelism.expert_parallel_comm_backend", "optimizer.early_step_in_backward", "optimizer.implementation",
        "activation_checkpoint.memory_budget", "compile.components"})
    all.push_back({.path = path, .source = job_config, .read = anything});
  return all;
}

/// Matters to neither memory nor time of a step.
std::vector<LaunchKey> harmless_keys() {
  std::vector<LaunchKey> all;
  for (const std::string_view path : {"job.*",
                                      "profiling.*",
                                      "metrics.*",
                                      "checkpoint.*",
                                      "comm.*",
                                      "validation.*",
                                      "fault_tolerance.*",
                                      "experimental.custom*",
                                      "debug.*",
                                      "memory_estimation.*",
                                      "lr_scheduler.*",
                                      "optimizer.*",
                                      "model.*",
                                      "compile.*",
                                      "training.dataset*",
                                      "training.dataloader*",
                                      "training.data*",
                                      "training.gc_*",
                                      "training.deterministic*",
                                      "training.warmup_steps",
                                      "activation_checkpoint.*",
                                      "quantize.*",
                                      "float8.*",
                                      "mx.*",
                                      "parallelism.pipeline_parallel_expert_parallel_overlap",
                                      "parallelism.enable_compiled_autograd"})
    all.push_back({.path = path, .source = job_config});
  return all;
}

}  // namespace

const std::vector<LaunchKey>& keys() {
  static const std::vector<LaunchKey> all = [] {
    std::vector<LaunchKey> rows;
    for (const auto& group : {model_keys(), schedule_keys(), batch_keys(), training_keys(), parallel_keys(),
                              pipeline_keys(), other_keys(), harmless_keys()})
      rows.insert(rows.end(), group.begin(), group.end());
    return rows;
  }();
  return all;
}

}  // namespace plumbline::torchtitan
