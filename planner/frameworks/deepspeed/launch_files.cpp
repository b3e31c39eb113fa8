// DeepSpeed: ds_config.json, the script that it needs, and how that is started.
#include <array>

#include "core/base/errors.h"
#include "planner/frameworks/deepspeed/config_keys.h"
#include "planner/frameworks/deepspeed/training_script.h"
#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/trainer_flags.h"

namespace plumbline {
namespace {

std::vector<std::string> assumptions(const LaunchSettings& s) {
  std::vector<std::string> sentences;
  if (const std::string missing = missing_hub_name(s); !missing.empty()) sentences.push_back(missing);
  if (s.optimizer == Optimizer::momentum && !s.recipe.momentum)
    sentences.emplace_back("a momentum of 0.9: the plan has none, and SGD without it keeps no state");
  if (s.optimizer && !s.recipe.learning_rate)
    sentences.emplace_back("the optimizer's own learning rate: the plan has none");
  if (s.data_parallel.value_or(1) > 1 && s.choices.overlap != "none" && !deepspeed_overlaps(s))
    sentences.emplace_back(
        "gradients are reduced when their backward has ended: DeepSpeed overlaps ZeRO's alone, and none in a pipeline;"
        " the plan has them beside it (--overlap none prices what runs)");
  if (s.pipeline_stages.value_or(1) > 1)
    sentences.emplace_back(
        "train.py imports training_code.py, which is yours: it divides the model into layers for DeepSpeed's pipeline");
  return sentences;
}

std::vector<std::string> unsaid(const LaunchSettings& s) {
  std::vector<std::string> sentences = unsaid_of_model(s);
  for (std::string& sentence : unsaid_of_adapters(s)) sentences.push_back(std::move(sentence));
  if (changes_moments(s)) sentences.push_back(unsaid_moments("DeepSpeed", s));
  return sentences;
}

constexpr std::array<std::string_view, 2> releases{"0.16.0", "0.19.8"};

/// Refuses settings for which the release has no key.
void check_release(const LaunchSettings& s, std::string_view release) {
  std::vector<std::string> missing = missing_keys(deepspeed_config_keys(), release, s);
  if (s.optimizer == Optimizer::muon && !has_release({.since = deepspeed_with_muon}, release))
    missing.emplace_back("optimizer.type Muon");
  if (!missing.empty())
    throw InputError({"--release", "DeepSpeed " + std::string(release) + " has no " + missing.front(),
                      "--release " + std::string(releases.back()) + ", or another plan", ""});
}

LaunchFiles write(const LaunchSettings& settings, std::string_view release) {
  check_release(settings, release);
  LaunchFiles files;
  files.files.push_back({"ds_config.json", to_json_text(written_tree(deepspeed_config_keys(), release, settings))});
  files.files.push_back({"train.py", deepspeed_training_script(settings)});
  LaunchedProgram program{"train.py", {"--deepspeed_config", "ds_config.json"}, settings.model};
  LaunchSettings of_script = settings;
  of_script.model = hub_name(settings);
  for (std::string& word : trainer_words(RecipePlace::config_file, of_script))
    program.arguments.push_back(std::move(word));
  for (LaunchFile& file : launcher_files(program, settings)) files.files.push_back(std::move(file));
  files.assumptions = assumptions(settings);
  files.unsaid = unsaid(settings);
  return files;
}

const Json* find_at(const Json& tree, std::string_view section, std::string_view key) {
  const Json* const inner = tree.find(section);
  return inner == nullptr ? nullptr : inner->find(key);
}

/// What DeepSpeed does where the file says nothing (zero/config.py, runtime/config.py). "auto" is open.
void take_defaults(const Json& whole, LaunchSettings& s) {
  if (!s.zero_stage && find_at(whole, "zero_optimization", "stage") == nullptr) s.zero_stage = 0;
  bool says_precision = false;
  for (const std::string_view name : {"bf16", "bfloat16", "fp16", "torch_autocast", "amp"}) {
    const Json* const enabled = find_at(whole, name, "enabled");
    says_precision = says_precision || (enabled != nullptr && enabled->if_string() != nullptr);
  }
  if (!s.precision && !says_precision) s.precision = PrecisionRecipe::fp32;
  if (s.micro_batch && !s.micro_batches && whole.find("train_batch_size") == nullptr &&
      whole.find("gradient_accumulation_steps") == nullptr)
    s.micro_batches = 1;
}

/// train_batch_size = micro-batch * accumulation * data-parallel ranks (config.py: _batch_assertion).
void derive_ranks(std::string_view name, LaunchSettings& s) {
  if (!s.global_batch || !s.micro_batch || !s.micro_batches) return;
  constexpr std::int64_t most_ranks = 1'000'000;
  const std::int64_t accumulated = *s.global_batch / *s.micro_batch;  // no product that may overflow
  const std::int64_t ranks = accumulated / *s.micro_batches;
  const bool divides = *s.global_batch % *s.micro_batch == 0 && accumulated % *s.micro_batches == 0;
  if (!divides || ranks < 1 || ranks > most_ranks)
    throw InputError({std::string(name) + ": train_batch_size",
                      std::to_string(*s.global_batch) + " is no multiple of " + std::to_string(*s.micro_batch) + " * " +
                          std::to_string(*s.micro_batches),
                      "train_micro_batch_size_per_gpu * gradient_accumulation_steps * data-parallel ranks", ""});
  if (!s.data_parallel) s.data_parallel = static_cast<std::int32_t>(ranks);
}

void add_notes(const Json& tree, const LaunchSettings& s, ImportNotes& notes) {
  const Json* const optimizer = find_at(tree, "optimizer", "type");
  if (optimizer != nullptr && optimizer->if_string() != nullptr && !s.optimizer)
    notes.unread.push_back("optimizer.type " + optimizer->if_string()->substr(0, 40) +
                           " changes memory and time and is not modelled");
  const Json* const interval = find_at(tree, "pipeline", "activation_checkpoint_interval");
  if (interval != nullptr && interval->if_integer() != nullptr && *interval->if_integer() > 1)
    notes.unread.push_back("pipeline.activation_checkpoint_interval " + std::to_string(*interval->if_integer()) +
                           " keeps fewer layer inputs than 1, as which it is read");
  const Json* const master = find_at(tree, "bf16", "bf16_master_weights_and_grads");
  if (master != nullptr && s.precision != PrecisionRecipe::bf16_pure && master->if_bool() != nullptr &&
      *master->if_bool())
    notes.unread.push_back(
        "bf16.bf16_master_weights_and_grads changes memory and is modelled with"
        " bf16_optimizer_states alone");
}

Imported read(std::string_view text, std::string_view name) {
  if (is_script_name(name)) return read_trainer_script(text, name);
  const Json whole = parse_json(text, name);
  std::int64_t usual = 0;
  const Json tree = essential_config(whole, usual);
  require_known_key(deepspeed_config_keys(), tree, name);
  Imported imported;
  imported.notes = read_tree(deepspeed_config_keys(), tree, name, imported.settings);
  imported.notes.ignored += usual;
  take_defaults(whole, imported.settings);
  derive_ranks(name, imported.settings);
  settle_deepspeed_overlap(imported.settings);
  add_notes(tree, imported.settings, imported.notes);
  return imported;
}

/// overlap_comm is about reductions alone; gathers run beside passes or not as the stage has it.
bool says_choice(const StackChoiceField& field, const LaunchSettings& s) {
  if (field.name != "overlap") return false;
  const std::string& overlap = s.choices.overlap;
  return overlap == "none" || (overlap != "both" && deepspeed_overlaps(s));
}

}  // namespace

LaunchTarget deepspeed_target() {
  return {.framework = Framework::deepspeed,
          .title = "DeepSpeed",
          .releases = {releases.begin(), releases.end()},
          .revision = record_of(Framework::deepspeed).revision,
          .write = write,
          .read = read,
          .keys = deepspeed_config_keys,
          .says_choice = says_choice};
}

}  // namespace plumbline
