#include "planner/frameworks/accelerate/config_keys.h"

#include <array>

#include "core/base/errors.h"
#include "planner/frameworks/launch/key_values.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Rows = std::vector<LaunchKey>;

constexpr std::string_view config = "src/accelerate/commands/config/config_args.py";
constexpr std::string_view launch = "src/accelerate/commands/launch.py";
constexpr std::string_view plugin = "src/accelerate/utils/dataclasses.py";
constexpr std::string_view parallelism = "src/accelerate/parallelism_config.py";
constexpr std::string_view fsdp2 = "1.6.0";       // first release with fsdp_version
constexpr std::string_view last_fsdp1 = "1.5.2";  // last one without
constexpr std::string_view with_axes = "1.10.0";  // first release with parallelism_config

constexpr std::array<std::pair<AccelerateKind, std::string_view>, 4> kind_names{
    {{AccelerateKind::one_process, "NO"},
     {AccelerateKind::multi_gpu, "MULTI_GPU"},
     {AccelerateKind::fsdp, "FSDP"},
     {AccelerateKind::deepspeed, "DEEPSPEED"}}};

bool is_fsdp(const Settings& s) { return accelerate_kind(s) == AccelerateKind::fsdp; }
bool is_deepspeed(const Settings& s) { return accelerate_kind(s) == AccelerateKind::deepspeed; }

LaunchKey unmodelled(std::string_view path, std::string_view source, KeyEffect effect) {
  return {.path = path, .source = source, .effect = effect};
}

std::optional<Json> kind_name(const Settings& s) {
  for (const auto& [kind, name] : kind_names)
    if (kind == accelerate_kind(s)) return Json(name);
  return std::nullopt;
}

/// With the ZeRO stage that the back end has where nothing else is said (utils/dataclasses.py).
void read_kind(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  if (name == "FSDP")
    s.zero_stage = 3;
  else if (name == "DEEPSPEED")
    s.zero_stage = 2;
  else if (name == "MULTI_GPU" || name == "NO")
    s.zero_stage = 0;
  else
    throw InputError({"", "found \"" + name.substr(0, 40) + "\"", "NO, MULTI_GPU, FSDP or DEEPSPEED", ""});
}

struct NamedPrecision {
  PrecisionRecipe recipe;
  std::string_view name;
};
constexpr std::array named_precisions{
    NamedPrecision{PrecisionRecipe::fp32, "no"}, NamedPrecision{PrecisionRecipe::fp16, "fp16"},
    NamedPrecision{PrecisionRecipe::bf16, "bf16"}, NamedPrecision{PrecisionRecipe::fp8, "fp8"}};

std::optional<Json> precision_name(const Settings& s) {
  for (const NamedPrecision& one : named_precisions)
    if (s.precision == one.recipe) return Json(one.name);
  return std::nullopt;
}

/// A plain `no` is false in YAML.
void read_precision(const Json& value, Settings& s) {
  const std::string name = value.if_bool() != nullptr && !*value.if_bool() ? "no" : word_value(value);
  for (const NamedPrecision& one : named_precisions)
    if (name == one.name) s.precision = one.recipe;
  if (!s.precision) throw InputError({"", "found \"" + name.substr(0, 40) + "\"", "no, fp16, bf16 or fp8", ""});
}

LaunchKey constant(std::string_view path, Json value) {
  return {.path = path, .source = config, .write = [value](const Settings&) { return value; }};
}

Rows run_keys() {
  return {constant("compute_environment", "LOCAL_MACHINE"),
          {.path = "distributed_type", .source = config, .write = kind_name, .read = read_kind},
          {.path = "mixed_precision", .source = config, .write = precision_name, .read = read_precision},
          {.path = "num_machines",
           .source = config,
           .write = [](const Settings& s) { return Json(s.nodes.value_or(1)); },
           .read = [](const Json& v, Settings& s) { s.nodes = count_value(v, 1); }},
          {.path = "num_processes",
           .source = config,
           .write = [](const Settings& s) { return written(s.devices); },
           .read =
               [](const Json& v, Settings& s) {
                 if (number_value(v) > 0) s.devices = count_value(v, 1);  // -1: by the command line
               }},
          constant("machine_rank", 0),
          constant("main_training_function", "main"),
          constant("rdzv_backend", "static"),
          constant("same_network", true),
          constant("downcast_bf16", "no"),
          constant("use_cpu", false)};
}

/// Axes have a section of their own where there are more than the sharded ranks.
bool has_axes(const Settings& s) {
  return s.tensor_parallel.value_or(1) > 1 || s.context_parallel.value_or(1) > 1 || is_hybrid(s);
}

LaunchKey axis(std::string_view path, std::int64_t (*size)(const Settings&), void (*read)(std::int32_t, Settings&)) {
  return {.path = path,
          .source = parallelism,
          .write = [size](const Settings& s) -> std::optional<Json> {
            if (!has_axes(s)) return std::nullopt;
            return Json(size(s));
          },
          .read = [read](const Json& v, Settings& s) { read(degree_value(v), s); },
          .since = with_axes};
}

/// Replicas times sharded ranks; refuses what no cluster has.
std::int32_t product(std::int32_t a, std::int32_t b) {
  constexpr std::int64_t most_ranks = 1'000'000;
  const std::int64_t all = std::int64_t{a} * b;
  if (all > most_ranks) throw InputError({"", std::to_string(all) + " ranks", "at most a million", ""});
  return static_cast<std::int32_t>(all);
}

/// Shards lie over dp_shard times cp (parallelism_config.py: dp_shard_cp). In this order: later rows need the earlier.
Rows axis_keys() {
  return {axis(
              "parallelism_config.parallelism_config_tp_size",
              [](const Settings& s) { return std::int64_t{s.tensor_parallel.value_or(1)}; },
              [](std::int32_t size, Settings& s) { s.tensor_parallel = size; }),
          axis(
              "parallelism_config.parallelism_config_cp_size",
              [](const Settings& s) { return std::int64_t{s.context_parallel.value_or(1)}; },
              [](std::int32_t size, Settings& s) { s.context_parallel = size; }),
          {.path = "parallelism_config.parallelism_config_sp_size",
           .source = parallelism,
           .read =
               [](const Json& v, Settings& s) {
                 if (degree_value(v) == 1) return;
                 s.context_parallel = degree_value(v);  // DeepSpeed's Ulysses
                 s.context_communication = ContextCommunication::all_to_all;
               }},
          axis(
              "parallelism_config.parallelism_config_dp_replicate_size",
              [](const Settings& s) {
                return s.zero_stage.value_or(0) == 0 ? std::int64_t{s.data_parallel.value_or(1)}
                                                     : gradient_ranks(s) / sharding_ranks(s);
              },
              [](std::int32_t size, Settings& s) { s.data_parallel = size; }),
          axis(
              "parallelism_config.parallelism_config_dp_shard_size",
              [](const Settings& s) {
                return s.zero_stage.value_or(0) == 0 ? 1 : sharding_ranks(s) / s.context_parallel.value_or(1);
              },
              [](std::int32_t size, Settings& s) {
                s.data_parallel = product(s.data_parallel.value_or(1), size);
                if (s.zero_stage.value_or(0) > 0) s.shard_group = product(size, s.context_parallel.value_or(1));
              }),
          unmodelled("parallelism_config.parallelism_config_cp_comm_strategy", parallelism, KeyEffect::time),
          {.path = "parallelism_config.*", .source = parallelism}};
}

/// FSDP of version 1: by name or number (torch.distributed.fsdp.ShardingStrategy). Hybrid: within each machine.
void read_strategy(const Json& value, Settings& s) {
  static constexpr std::array<std::string_view, 5> names{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                                         "HYBRID_SHARD_ZERO2"};
  static constexpr std::array<std::int32_t, 5> stages{3, 2, 0, 3, 2};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_number = value.if_integer() != nullptr && *value.if_integer() == static_cast<std::int64_t>(i) + 1;
    if (!is_number && (value.if_string() == nullptr || *value.if_string() != names[i])) continue;
    s.zero_stage = stages[i];
    if (i >= 3 && s.devices && s.nodes && *s.devices % *s.nodes == 0)
      s.shard_group = degree_value(Json(*s.devices / *s.nodes));
    return;
  }
  throw InputError({"", "not a strategy of FSDP", "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD or HYBRID_SHARD", ""});
}

std::optional<Json> strategy_name(const Settings& s) {
  if (!is_fsdp(s)) return std::nullopt;
  const bool shards_all = s.zero_stage == 3;
  if (is_hybrid(s)) return Json(shards_all ? "HYBRID_SHARD" : "HYBRID_SHARD_ZERO2");
  return Json(shards_all ? "FULL_SHARD" : "SHARD_GRAD_OP");
}

LaunchKey of_fsdp(std::string_view path, Json value) {
  return {.path = path, .source = plugin, .write = [value](const Settings& s) -> std::optional<Json> {
            if (!is_fsdp(s)) return std::nullopt;
            return value;
          }};
}

Rows fsdp_keys() {
  LaunchKey version = of_fsdp("fsdp_config.fsdp_version", 2);
  version.since = fsdp2;
  return {
      version,
      {.path = "fsdp_config.fsdp_sharding_strategy",
       .source = plugin,
       .write = strategy_name,
       .read = read_strategy,
       .until = last_fsdp1},
      {.path = "fsdp_config.fsdp_reshard_after_forward",
       .source = plugin,
       .write = [](const Settings& s) -> std::optional<Json> {
         if (!is_fsdp(s)) return std::nullopt;
         return Json(s.zero_stage == 3);
       },
       .read =
           [](const Json& v, Settings& s) {
             if (v.if_string() != nullptr && v.if_string()->find('_') != std::string::npos) return read_strategy(v, s);
             s.zero_stage = flag_value(v) ? 3 : 2;
           },
       .since = fsdp2},
      {.path = "fsdp_config.fsdp_activation_checkpointing",
       .source = plugin,
       .write = [](const Settings& s) -> std::optional<Json> {
         if (!is_fsdp(s) || !s.recompute) return std::nullopt;
         return Json(s.recompute->mode == RecomputeMode::full);
       },
       .read = [](const Json& v,
                  Settings& s) { s.recompute = Recompute{flag_value(v) ? RecomputeMode::full : RecomputeMode::none}; }},
      of_fsdp("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP"),
      of_fsdp("fsdp_config.fsdp_offload_params", false),
      of_fsdp("fsdp_config.fsdp_state_dict_type", "SHARDED_STATE_DICT"),
      unmodelled("fsdp_config.fsdp_activation_checkpointing_offload", plugin, KeyEffect::memory_and_time),
      unmodelled("fsdp_config.fsdp_backward_prefetch", plugin, KeyEffect::memory_and_time),
      unmodelled("fsdp_config.fsdp_forward_prefetch", plugin, KeyEffect::memory_and_time),
      unmodelled("fsdp_config.fsdp_min_num_params", plugin, KeyEffect::memory_and_time),
      {.path = "fsdp_config.*", .source = plugin}};
}

/// A norm that no gradient reaches. Accelerate 1.15.0 treats gradient_clipping 0 as unset and then clips at 1
/// (utils/dataclasses.py: DeepSpeedPlugin, accelerator.py: _prepare_deepspeed), so this says "no clipping".
constexpr double clips_nothing = 1e9;

Rows deepspeed_keys() {
  const auto none = [](const Settings& s) -> std::optional<Json> {
    if (!is_deepspeed(s)) return std::nullopt;
    return Json("none");
  };
  return {
      {.path = "deepspeed_config.zero_stage",
       .source = launch,
       .write = [](const Settings& s) -> std::optional<Json> {
         if (!is_deepspeed(s)) return std::nullopt;
         return Json(std::int64_t{*s.zero_stage});
       },
       .read = [](const Json& v,
                  Settings& s) { s.zero_stage = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, 3)); }},
      {.path = "deepspeed_config.gradient_accumulation_steps",
       .source = launch,
       .write = [](const Settings& s) { return is_deepspeed(s) ? written(s.micro_batches) : std::nullopt; },
       .read = [](const Json& v, Settings& s) { s.micro_batches = count_value(v, 1); }},
      {.path = "deepspeed_config.gradient_clipping",
       .source = launch,
       .write = [](const Settings& s) -> std::optional<Json> {
         if (!is_deepspeed(s) || !s.recipe.clip) return std::nullopt;
         return Json(*s.recipe.clip > 0 ? *s.recipe.clip : clips_nothing);
       },
       .read =
           [](const Json& v, Settings& s) {
             const double norm = number_value(v);
             s.recipe.clip = norm >= clips_nothing ? 0 : norm;
           }},
      {.path = "deepspeed_config.offload_optimizer_device",
       .source = launch,
       .write = none,
       .effect = KeyEffect::decides},
      {.path = "deepspeed_config.offload_param_device", .source = launch, .write = none, .effect = KeyEffect::decides},
      {.path = "deepspeed_config.*", .source = launch}};
}

Rows other_keys() {
  Rows rows{unmodelled("dynamo_config", config, KeyEffect::memory_and_time),
            unmodelled("megatron_lm_config", config, KeyEffect::memory_and_time),
            unmodelled("fp8_config.opt_level", plugin, KeyEffect::memory_and_time)};
  for (const std::string_view path :
       {"debug", "enable_cpu_affinity", "gpu_ids", "main_process_ip", "main_process_port", "fp8_config.*",
        "mpirun_config", "ipex_config", "tpu_*", "command_file", "commands", "additional_args"})
    rows.push_back({.path = path, .source = config});
  return rows;
}

Rows all_keys() {
  Rows all;
  for (const Rows& group : {run_keys(), axis_keys(), fsdp_keys(), deepspeed_keys(), other_keys()})
    all.insert(all.end(), group.begin(), group.end());
  // A value that is not the usual one matters, though we write it.
  for (LaunchKey& row : all)
    if (row.path == "fsdp_config.fsdp_offload_params" || row.path == "fsdp_config.fsdp_auto_wrap_policy" ||
        row.path == "use_cpu")
      row.effect = row.path == "fsdp_config.fsdp_offload_params" ? KeyEffect::decides : KeyEffect::memory_and_time;
  return all;
}

}  // namespace

AccelerateKind accelerate_kind(const LaunchSettings& s) {
  const std::int32_t stage = s.zero_stage.value_or(0);
  if (stage == 1) return AccelerateKind::deepspeed;
  if (stage > 1) return AccelerateKind::fsdp;
  return s.devices.value_or(1) > 1 ? AccelerateKind::multi_gpu : AccelerateKind::one_process;
}

const std::vector<LaunchKey>& accelerate_config_keys() {
  static const Rows keys = all_keys();
  return keys;
}

const std::vector<UsualValue>& accelerate_usual_values() {
  static const std::vector<UsualValue> values{
      {"use_cpu", 0},
      {"fsdp_config.fsdp_offload_params", 0},
      {"fsdp_config.fsdp_auto_wrap_policy", 0, "TRANSFORMER_BASED_WRAP"},
      {"fsdp_config.fsdp_activation_checkpointing_offload", 0},
      {"fsdp_config.fsdp_backward_prefetch", 0, "BACKWARD_PRE"},
      {"fsdp_config.fsdp_forward_prefetch", 0},
      {"parallelism_config.parallelism_config_cp_comm_strategy", 0, "allgather"},
      {"deepspeed_config.offload_optimizer_device", 0, "none"},
      {"deepspeed_config.offload_param_device", 0, "none"}};
  return values;
}

}  // namespace plumbline
