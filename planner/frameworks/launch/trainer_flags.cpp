#include "planner/frameworks/launch/trainer_flags.h"

#include <algorithm>
#include <array>

#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/launch/trainer_other_flags.h"
#include "planner/frameworks/syntax/arguments.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Rows = std::vector<LaunchKey>;

/// A row for a count; what a variable of the shell holds is not known here.
LaunchKey count_flag(std::string_view path, std::string_view source, std::optional<std::int64_t> Settings::*member) {
  return {.path = path, .source = source, .read = [member](const Json& v, Settings& s) {
            if (v.if_string() == nullptr) s.*member = count_value(v, 1);
          }};
}

LaunchKey with_write(LaunchKey key, std::function<std::optional<Json>(const Settings&)> write) {
  key.write = std::move(write);
  return key;
}

Rows model_flags() {
  return {{.path = "--model_name_or_path",
           .source = run_clm_source,
           .write = [](const Settings& s) -> std::optional<Json> {
             if (s.model.empty()) return std::nullopt;
             return Json(s.model);
           },
           .read = [](const Json& v, Settings& s) { s.model = word_value(v); }},
          with_write(count_flag("--max_seq_length", run_clm_source, &Settings::sequence_length),
                     [](const Settings& s) { return written(s.sequence_length); }),
          count_flag("--block_size", run_clm_source, &Settings::sequence_length),
          count_flag("--model_max_length", run_clm_source, &Settings::sequence_length),
          count_flag("--max_length", "trl/trainer/sft_config.py", &Settings::sequence_length),
          {.path = "--attn_implementation",
           .source = "src/transformers/modeling_utils.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (!s.flash_attention) return std::nullopt;
             return Json(*s.flash_attention == FlashAttention::on ? "sdpa" : "eager");  // PyTorch's own kernels
           },
           .read =
               [](const Json& v, Settings& s) {
                 s.flash_attention = word_value(v) == "eager" ? FlashAttention::off : FlashAttention::on;
               }},
          {.path = "--lora_r",
           .source = "huggingface/peft src/peft/tuners/lora/config.py",
           .write = [](const Settings& s) -> std::optional<Json> {
             if (s.lora_rank.value_or(0) == 0) return std::nullopt;
             return Json(*s.lora_rank);
           },
           .read = [](const Json& v, Settings& s) { s.lora_rank = count_value(v, 1); }}};
}

/// Other kernels that it brings change little beside: norms, gates and rotations stay those of the stack.
LaunchKey liger_flag(std::string_view path, std::string_view source) {
  return {.path = path, .source = source, .read = [](const Json& v, Settings& s) {
            if (flag_value(v)) s.choices.loss = "fused_linear";
          }};
}

Rows loss_flags() {
  return {with_write(liger_flag("--use_liger_kernel", trainer_source),
                     [](const Settings& s) { return written_where(s.choices.loss == "fused_linear"); }),
          liger_flag("--use_liger", "trl/trainer/sft_config.py of 2024")};
}

Rows batch_flags(RecipePlace place) {
  const bool is_written = place == RecipePlace::script_flags;
  const auto batch = [is_written](std::optional<std::int64_t> Settings::*member) {
    return [is_written, member](const Settings& s) { return is_written ? written(s.*member) : std::nullopt; };
  };
  return {with_write(count_flag("--per_device_train_batch_size", trainer_source, &Settings::micro_batch),
                     batch(&Settings::micro_batch)),
          with_write(count_flag("--gradient_accumulation_steps", trainer_source, &Settings::micro_batches),
                     batch(&Settings::micro_batches))};
}

LaunchKey precision_flag(std::string_view path, PrecisionRecipe recipe) {
  return {.path = path, .source = trainer_source, .read = [recipe](const Json& v, Settings& s) {
            if (flag_value(v)) s.precision = recipe;
          }};
}

/// "adamw_torch_fused" is AdamW.
void read_optimizer(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  // "adamw_8bit" is "adamw_bnb_8bit".
  std::string spelled = name;
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  for (const TorchOptimizer& one : torch_optimizers)
    if (facts(one.optimizer).quantizes_states && (name == one.trainer || spelled == to_text(one.optimizer))) {
      s.optimizer = one.optimizer;
      return;
    }
  if (name.find("8bit") != std::string::npos || name.find("paged") != std::string::npos) return;
  for (const TorchOptimizer& one : torch_optimizers)
    if (name.starts_with(to_text(one.optimizer))) {
      s.optimizer = one.optimizer;
      return;
    }
}

std::optional<Json> optimizer_name(const Settings& s) {
  if (!s.optimizer) return std::nullopt;
  return Json(torch_optimizer_of(*s.optimizer).trainer);
}

/// max_steps -1: by epochs.
LaunchKey steps_flag() {
  LaunchKey key = recipe_count("--max_steps", trainer_source, &LaunchRecipe::steps);
  key.read = [](const Json& v, Settings& s) {
    if (number_value(v) >= 0) s.recipe.steps = count_value(v);
  };
  return key;
}

/// The exported script takes the end of a schedule with every type.
constexpr std::string_view end_key = "min_lr";
constexpr std::string_view span_key = "num_training_steps";

std::string one_line(const Json& value) {
  std::string text = to_json_text(value, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<Json> schedule_arguments(const Settings& s) {
  Json::Object arguments;
  if (s.recipe.final_learning_rate) arguments.emplace_back(end_key, *s.recipe.final_learning_rate);
  if (s.recipe.schedule_steps) arguments.emplace_back(span_key, *s.recipe.schedule_steps);
  if (arguments.empty()) return std::nullopt;
  return Json(one_line(Json(std::move(arguments))));
}

void read_schedule_arguments(const Json& value, Settings& s) {
  if (value.if_string() == nullptr || !value.if_string()->starts_with("{")) return;
  const Json arguments = parse_json(*value.if_string(), "--lr_scheduler_kwargs");
  if (const Json* const end = arguments.find(end_key)) s.recipe.final_learning_rate = number_value(*end);
  if (const Json* const steps = arguments.find(span_key)) s.recipe.schedule_steps = count_value(*steps, 1);
}

/// Of a name that Transformers has, the first is written. The exported scripts follow them under every framework.
Rows schedule_flags() {
  return {recipe_count("--warmup_steps", trainer_source, &LaunchRecipe::warmup_steps),
          recipe_shape("--lr_scheduler_type", "src/transformers/trainer_utils.py: SchedulerType",
                       {{LearningRateShape::constant, "constant_with_warmup"},
                        {LearningRateShape::constant, "constant"},
                        {LearningRateShape::linear, "linear"},
                        {LearningRateShape::cosine, "cosine"},
                        {LearningRateShape::cosine, "cosine_with_min_lr"},
                        {LearningRateShape::inverse_square_root, "inverse_sqrt"}}),
          {.path = "--lr_scheduler_kwargs",
           .source = trainer_source,
           .write = schedule_arguments,
           .read = read_schedule_arguments}};
}

/// Those that a file of the framework has.
Rows optimizer_flags(RecipePlace place) {
  Rows rows{
      {.path = "--gradient_checkpointing",
       .source = trainer_source,
       .write = [](const Settings& s) { return written_where(s.recompute == Recompute{RecomputeMode::full}); },
       .read = [](const Json& v,
                  Settings& s) { s.recompute = Recompute{flag_value(v) ? RecomputeMode::full : RecomputeMode::none}; }},
      {.path = "--optim", .source = trainer_source, .write = optimizer_name, .read = read_optimizer},
      recipe_number("--learning_rate", trainer_source, &LaunchRecipe::learning_rate),
      recipe_number("--weight_decay", trainer_source, &LaunchRecipe::weight_decay),
      recipe_number("--max_grad_norm", trainer_source, &LaunchRecipe::clip),
      recipe_number("--adam_beta1", trainer_source, &LaunchRecipe::beta1),
      recipe_number("--adam_beta2", trainer_source, &LaunchRecipe::beta2),
      recipe_number("--adam_epsilon", trainer_source, &LaunchRecipe::epsilon),
      recipe_number("--momentum", "the exported script", &LaunchRecipe::momentum)};
  if (place == RecipePlace::config_file)
    for (LaunchKey& row : rows) row.write = nullptr;
  return rows;
}

/// Of scripts that make their own ds_config: DeepSpeed-Chat, Megatron-DeepSpeed.
LaunchKey zero_flag(std::string_view path) {
  return {.path = path,
          .source = "deepspeedai/DeepSpeedExamples applications/DeepSpeed-Chat",
          .read = [](const Json& v, Settings& s) {
            s.zero_stage = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, 3));
          }};
}

/// A Trainer writes other files there, too: of checkpoints only where --save_steps stands beside it.
LaunchKey checkpoint_flag() {
  LaunchKey key = recipe_folder("--output_dir", trainer_source);
  key.read = [](const Json& v, Settings& s) {
    if (s.recipe.checkpoint_every) s.recipe.checkpoint = word_value(v);
  };
  return key;
}

Rows recipe_flags() {
  return {zero_flag("--zero_stage"),
          zero_flag("--zero-stage"),
          precision_flag("--bf16", PrecisionRecipe::bf16),
          precision_flag("--fp16", PrecisionRecipe::fp16),
          steps_flag(),
          recipe_count("--seed", trainer_source, &LaunchRecipe::seed),
          recipe_interval("--save_steps", trainer_source),
          checkpoint_flag()};
}

/// What they say is read together (trainer_script.cpp).
Rows file_flags() {
  Rows rows;
  for (const std::string_view path :
       {"--fsdp", "--deepspeed", "--deepspeed_config", "--deepspeed_config_file", "--config_file"})
    rows.push_back({.path = path, .source = trainer_source, .read = [](const Json&, Settings&) {}});
  return rows;
}

}  // namespace

std::vector<LaunchKey> trainer_flags(RecipePlace place) {
  Rows all;
  for (const Rows& group : {model_flags(), loss_flags(), batch_flags(place), optimizer_flags(place), schedule_flags(),
                            recipe_flags(), file_flags(), starter_flags(), trainer_other_flags()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

std::vector<std::string> trainer_words(RecipePlace place, const LaunchSettings& settings) {
  return argument_words(written_tree(trainer_flags(place), "", settings));
}

bool is_script_name(std::string_view name) {
  static constexpr std::array<std::string_view, 4> ends{".sh", ".slurm", ".sbatch", ".bash"};
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace plumbline
