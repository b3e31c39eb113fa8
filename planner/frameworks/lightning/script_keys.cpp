#include "planner/frameworks/lightning/script_keys.h"

#include <array>

#include "core/base/errors.h"
#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/syntax/python_calls.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Rows = std::vector<LaunchKey>;

constexpr std::string_view trainer = "lightning/pytorch/trainer/trainer.py";
constexpr std::string_view fsdp = "lightning/pytorch/strategies/fsdp.py";
constexpr std::string_view deepspeed = "lightning/pytorch/strategies/deepspeed.py";
constexpr std::string_view model_parallel = "lightning/pytorch/strategies/model_parallel.py";
constexpr std::string_view model_checkpoint = "lightning/pytorch/callbacks/model_checkpoint.py";
constexpr std::string_view exported = "the exported script";

std::int32_t ranks(const Settings& s) { return s.data_parallel.value_or(1); }
bool is(const Settings& s, std::string_view strategy) { return lightning_strategy(s) == strategy; }
bool recomputes(const Settings& s) { return s.recompute && s.recompute->mode == RecomputeMode::full; }

struct NamedPrecision {
  PrecisionRecipe recipe;
  std::string_view name;
};
constexpr std::array named_precisions{
    NamedPrecision{PrecisionRecipe::fp32, "32-true"}, NamedPrecision{PrecisionRecipe::fp16, "16-mixed"},
    NamedPrecision{PrecisionRecipe::bf16, "bf16-mixed"}, NamedPrecision{PrecisionRecipe::bf16_pure, "bf16-true"},
    NamedPrecision{PrecisionRecipe::fp16_pure, "16-true"}};

std::optional<Json> precision_name(const Settings& s) {
  for (const NamedPrecision& one : named_precisions)
    if (s.precision == one.recipe) return Json(one.name);
  return std::nullopt;
}

/// Also 16, 32 and "bf16", which Trainer takes for these (precision.py: _PRECISION_INPUT_STR_ALIAS_CONVERSION).
void read_precision(const Json& value, Settings& s) {
  const std::string name = value.if_integer() != nullptr ? std::to_string(*value.if_integer()) : word_value(value);
  const std::string whole = name == "16" || name == "bf16" ? name + "-mixed" : name == "32" ? name + "-true" : name;
  for (const NamedPrecision& one : named_precisions)
    if (whole == one.name) s.precision = one.recipe;
  if (!s.precision)
    throw InputError(
        {"", "found \"" + name.substr(0, 40) + "\"", "32-true, 16-mixed, bf16-mixed, 16-true or bf16-true", ""});
}

/// By name: "fsdp", "ddp", "deepspeed_stage_3". An object's call says more, below.
void read_strategy(const Json& value, Settings& s) {
  const std::string* const name = value.if_string();
  if (name == nullptr) return;
  if (name->starts_with("ddp")) s.zero_stage = 0;
  if (name->starts_with("fsdp")) s.zero_stage = 3;
  if (name->starts_with("deepspeed")) s.zero_stage = 2;
  constexpr std::string_view staged = "deepspeed_stage_";
  if (name->starts_with(staged) && name->size() > staged.size() && (*name)[staged.size()] >= '1' &&
      (*name)[staged.size()] <= '3')
    s.zero_stage = (*name)[staged.size()] - '0';
}

LaunchKey count_key(std::string_view path, std::optional<std::int64_t> Settings::*member) {
  return {.path = path,
          .source = trainer,
          .write = [member](const Settings& s) { return written(s.*member); },
          .read =
              [member](const Json& v, Settings& s) {
                if (v.if_integer() != nullptr && *v.if_integer() > 0)
                  s.*member = count_value(v, 1);  // "auto", -1: open
              }};
}

Rows trainer_keys() {
  return {{.path = "Trainer.accelerator", .source = trainer, .write = [](const Settings&) { return Json("gpu"); }},
          {.path = "Trainer.devices",
           .source = trainer,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!s.devices) return std::nullopt;
             return Json(*s.devices / s.nodes.value_or(1));
           },
           .read = count_key("", &Settings::devices_per_node).read},
          {.path = "Trainer.num_nodes",
           .source = trainer,
           .write = [](const Settings& s) { return Json(s.nodes.value_or(1)); },
           .read = count_key("", &Settings::nodes).read},
          {.path = "Trainer.strategy",
           .source = trainer,
           .write = [](const Settings&) { return python_expression("strategy"); },
           .read = read_strategy},
          {.path = "Trainer.precision", .source = trainer, .write = precision_name, .read = read_precision},
          count_key("Trainer.accumulate_grad_batches", &Settings::micro_batches),
          {.path = "Trainer.gradient_clip_val",
           .source = trainer,
           .write = [](const Settings& s) { return written(s.recipe.clip); },
           .read = [](const Json& v, Settings& s) { s.recipe.clip = number_value(v); }},
          {.path = "Trainer.max_steps",
           .source = trainer,
           .write = [](const Settings& s) { return written(s.recipe.steps); },
           .read =
               [](const Json& v, Settings& s) {
                 if (number_value(v) > 0) s.recipe.steps = count_value(v);
               }},
          {.path = "Trainer.callbacks",
           .source = trainer,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!checkpoint_interval(s.recipe)) return std::nullopt;
             return python_expression("[checkpoints]");
           }},
          {.path = "Trainer.*", .source = trainer},
          recipe_count("seed_everything.seed", "lightning/fabric/utilities/seed.py", &LaunchRecipe::seed),
          recipe_folder("ModelCheckpoint.dirpath", model_checkpoint),
          recipe_interval("ModelCheckpoint.every_n_train_steps", model_checkpoint),
          {.path = "ModelCheckpoint.save_last",
           .source = model_checkpoint,
           .write = [](const Settings& s) { return written_where(checkpoint_interval(s.recipe).has_value()); }},
          {.path = "ModelCheckpoint.*", .source = model_checkpoint}};
}

/// ShardingStrategy of torch.distributed.fsdp, by name.
std::optional<Json> sharding_name(const Settings& s) {
  if (!is(s, "FSDPStrategy")) return std::nullopt;
  if (s.zero_stage == 3) return Json(is_hybrid(s) ? "HYBRID_SHARD" : "FULL_SHARD");
  return Json(is_hybrid(s) ? "_HYBRID_SHARD_ZERO2" : "SHARD_GRAD_OP");
}

void read_sharding(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  if (name == "FULL_SHARD" || name == "HYBRID_SHARD")
    s.zero_stage = 3;
  else if (name == "SHARD_GRAD_OP" || name == "_HYBRID_SHARD_ZERO2")
    s.zero_stage = 2;
  else if (name == "NO_SHARD")
    s.zero_stage = 0;
  else
    throw InputError({"", "found \"" + name.substr(0, 40) + "\"", "FULL_SHARD, SHARD_GRAD_OP or HYBRID_SHARD", ""});
}

/// Of FSDPStrategy: replicas and shards.
void read_mesh(const Json& value, Settings& s) {
  const Json::Array* const mesh = value.if_array();
  if (mesh == nullptr || mesh->size() != 2) throw InputError({"", "not two numbers", "(replicas, shards)", ""});
  const std::int64_t all = std::int64_t{degree_value((*mesh)[0])} * degree_value((*mesh)[1]);
  s.data_parallel = degree_value(Json(all));
  s.shard_group = degree_value((*mesh)[1]);
}

LaunchKey of_strategy(std::string_view path, std::string_view source, std::string_view strategy, Json value,
                      bool (*holds)(const Settings&)) {
  return {.path = path, .source = source, .write = [=](const Settings& s) -> std::optional<Json> {
            if (!is(s, strategy) || !holds(s)) return std::nullopt;
            return value;
          }};
}

bool always(const Settings&) { return true; }

Rows fsdp_keys() {
  LaunchKey policy = of_strategy("FSDPStrategy.activation_checkpointing_policy", fsdp, "FSDPStrategy",
                                 python_expression("{Block}"), recomputes);
  policy.read = [](const Json&, Settings& s) { s.recompute = Recompute{RecomputeMode::full}; };
  return {{.path = "FSDPStrategy.sharding_strategy", .source = fsdp, .write = sharding_name, .read = read_sharding},
          {.path = "FSDPStrategy.device_mesh",
           .source = fsdp,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "FSDPStrategy") || !is_hybrid(s)) return std::nullopt;
             return Json(Json::Array{gradient_ranks(s) / sharding_ranks(s), sharding_ranks(s)});
           },
           .read = read_mesh},
          of_strategy("FSDPStrategy.auto_wrap_policy", fsdp, "FSDPStrategy", python_expression("{Block}"), always),
          policy,
          {.path = "FSDPStrategy.activation_checkpointing", .source = fsdp, .read = policy.read},
          of_strategy("FSDPStrategy.state_dict_type", fsdp, "FSDPStrategy", "sharded", always),
          {.path = "FSDPStrategy.cpu_offload", .source = fsdp, .effect = KeyEffect::decides},
          {.path = "FSDPStrategy.*", .source = fsdp}};
}

void read_degree(const Json& value, std::optional<std::int32_t>& degree) {
  if (value.if_integer() != nullptr) degree = degree_value(value);  // "auto" is open
}

Rows other_strategy_keys() {
  return {{.path = "DeepSpeedStrategy.stage",
           .source = deepspeed,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "DeepSpeedStrategy")) return std::nullopt;
             return Json(std::int64_t{*s.zero_stage});
           },
           .read = [](const Json& v,
                      Settings& s) { s.zero_stage = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, 3)); }},
          {.path = "DeepSpeedStrategy.offload_optimizer", .source = deepspeed, .effect = KeyEffect::decides},
          {.path = "DeepSpeedStrategy.offload_parameters", .source = deepspeed, .effect = KeyEffect::decides},
          {.path = "DeepSpeedStrategy.overlap_comm",
           .source = deepspeed,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "DeepSpeedStrategy") || s.choices.overlap != "none") return std::nullopt;
             return Json(false);
           },
           .read = [](const Json& v, Settings& s) { s.choices.overlap = flag_value(v) ? "reductions" : "none"; }},
          {.path = "DeepSpeedStrategy.*", .source = deepspeed},
          {.path = "ModelParallelStrategy.data_parallel_size",
           .source = model_parallel,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "ModelParallelStrategy")) return std::nullopt;
             return Json(std::int64_t{ranks(s)});
           },
           .read = [](const Json& v, Settings& s) { read_degree(v, s.data_parallel); }},
          {.path = "ModelParallelStrategy.tensor_parallel_size",
           .source = model_parallel,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "ModelParallelStrategy")) return std::nullopt;
             return Json(std::int64_t{s.tensor_parallel.value_or(1)});
           },
           .read = [](const Json& v, Settings& s) { read_degree(v, s.tensor_parallel); }},
          {.path = "ModelParallelStrategy.*", .source = model_parallel},
          {.path = "DDPStrategy.*", .source = "lightning/pytorch/strategies/ddp.py"},
          {.path = "fully_shard.reshard_after_forward",
           .source = "torch/distributed/fsdp/_fully_shard/_fully_shard.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!is(s, "ModelParallelStrategy") || ranks(s) == 1) return std::nullopt;
             return Json(s.zero_stage == 3);
           },
           .read =
               [](const Json& v, Settings& s) {
                 const bool is_group = v.if_integer() != nullptr && *v.if_integer() > 1;
                 if (is_group) s.secondary_shard_group = degree_value(v);
                 s.zero_stage = is_group || flag_value(v) ? 3 : 2;
               }},
          {.path = "fully_shard.*", .source = exported}};
}

LaunchKey model_key(std::string_view path, std::function<std::optional<Json>(const Settings&)> write,
                    std::function<void(const Json&, Settings&)> read) {
  return {.path = path, .source = exported, .write = std::move(write), .read = std::move(read)};
}

std::optional<Json> optimizer_name(const Settings& s) {
  if (!s.optimizer) return std::nullopt;
  return Json(to_text(*s.optimizer));
}

void read_optimizer(const Json& value, Settings& s) {
  s.optimizer = optimizer_from_text(word_value(value));
  if (!s.optimizer) throw InputError({"", "found \"" + word_value(value).substr(0, 40) + "\"", "an optimizer", ""});
}

/// CausalLanguageModel is the exported script's own.
Rows model_keys() {
  return {model_key(
              "CausalLanguageModel.name", [](const Settings& s) { return Json(s.model); },
              [](const Json& v, Settings& s) { s.model = word_value(v); }),
          model_key(
              "CausalLanguageModel.sequence_length", [](const Settings& s) { return written(s.sequence_length); },
              [](const Json& v, Settings& s) { s.sequence_length = count_value(v, 1); }),
          model_key(
              "CausalLanguageModel.attention",
              [](const Settings& s) { return Json(s.flash_attention == FlashAttention::off ? "eager" : "sdpa"); },
              [](const Json& v, Settings& s) {
                s.flash_attention = word_value(v) == "eager" ? FlashAttention::off : FlashAttention::on;
              }),
          model_key(
              "CausalLanguageModel.recompute",
              [](const Settings& s) { return Json(recomputes(s) && !is(s, "FSDPStrategy")); },
              [](const Json& v, Settings& s) {
                if (flag_value(v)) s.recompute = Recompute{RecomputeMode::full};
              }),
          model_key("CausalLanguageModel.optimizer", optimizer_name, read_optimizer),
          recipe_number("CausalLanguageModel.learning_rate", exported, &LaunchRecipe::learning_rate),
          model_key(
              "CausalLanguageModel.lora_rank", [](const Settings& s) { return Json(s.lora_rank.value_or(0)); },
              [](const Json& v, Settings& s) { s.lora_rank = count_value(v); }),
          recipe_number("CausalLanguageModel.beta1", exported, &LaunchRecipe::beta1),
          recipe_number("CausalLanguageModel.beta2", exported, &LaunchRecipe::beta2),
          recipe_number("CausalLanguageModel.epsilon", exported, &LaunchRecipe::epsilon),
          recipe_number("CausalLanguageModel.momentum", exported, &LaunchRecipe::momentum),
          recipe_number("CausalLanguageModel.weight_decay", exported, &LaunchRecipe::weight_decay),
          recipe_shape("CausalLanguageModel.lr_schedule", exported,
                       {{LearningRateShape::constant, "constant"},
                        {LearningRateShape::linear, "linear"},
                        {LearningRateShape::cosine, "cosine"},
                        {LearningRateShape::inverse_square_root, "inverse-sqrt"}}),
          recipe_count("CausalLanguageModel.schedule_steps", exported, &LaunchRecipe::schedule_steps, 1),
          recipe_count("CausalLanguageModel.warmup_steps", exported, &LaunchRecipe::warmup_steps),
          recipe_number("CausalLanguageModel.final_learning_rate", exported, &LaunchRecipe::final_learning_rate),
          {.path = "CausalLanguageModel.*", .source = exported},
          {.path = "DataLoader.batch_size",
           .source = "torch/utils/data/dataloader.py",
           .write = [](const Settings& s) { return written(s.micro_batch); },
           .read = [](const Json& v, Settings& s) { s.micro_batch = count_value(v, 1); }},
          {.path = "DataLoader.*", .source = exported}};
}

}  // namespace

std::string_view lightning_strategy(const LaunchSettings& s) {
  if (s.tensor_parallel.value_or(1) > 1) return "ModelParallelStrategy";
  if (s.zero_stage.value_or(0) == 0) return "DDPStrategy";
  return s.zero_stage == 1 ? "DeepSpeedStrategy" : "FSDPStrategy";
}

const std::vector<LaunchKey>& lightning_keys() {
  static const Rows keys = [] {
    Rows all;
    for (const Rows& group : {trainer_keys(), fsdp_keys(), other_strategy_keys(), model_keys()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return keys;
}

const std::vector<std::string_view>& lightning_calls() {
  static const std::vector<std::string_view> calls{
      "Trainer",         "DDPStrategy",     "FSDPStrategy", "DeepSpeedStrategy",     "DataLoader",
      "ModelCheckpoint", "seed_everything", "fully_shard",  "ModelParallelStrategy", "CausalLanguageModel"};
  return calls;
}

}  // namespace plumbline
