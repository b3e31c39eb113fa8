// Accelerate: the YAML of `accelerate launch`, a script for it, and how that is started.
#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "planner/frameworks/accelerate/config_keys.h"
#include "planner/frameworks/accelerate/launch_flags.h"
#include "planner/frameworks/accelerate/training_script.h"
#include "planner/frameworks/deepspeed/config_keys.h"
#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/syntax/yaml.h"

namespace plumbline {
namespace {

/// What the release writes of the settings is all of them.
void check_release(const LaunchSettings& s, std::string_view release) {
  const auto has = [&](std::string_view since) { return has_release({.since = since}, release); };
  const bool has_axes = s.tensor_parallel.value_or(1) > 1 || s.context_parallel.value_or(1) > 1;
  if (has("1.10.0") || (!has_axes && !is_hybrid(s))) return;
  const bool is_of_one_node = sharding_ranks(s) == s.devices_per_node.value_or(0) && !has_axes;
  if (!has("1.6.0") && is_of_one_node) return;  // HYBRID_SHARD
  throw InputError({"--release", "Accelerate " + std::string(release) + " has no parallelism_config",
                    "1.10.0 or newer for tensor or context parallelism and shard groups", ""});
}

std::vector<std::string> assumptions(const LaunchSettings& s) {
  std::vector<std::string> sentences;
  if (const std::string missing = missing_hub_name(s); !missing.empty()) sentences.push_back(missing);
  if (!s.recipe.learning_rate)
    sentences.emplace_back("a learning rate of 1e-5, which train.py has where none is said: the plan has none");
  if (s.optimizer == Optimizer::momentum && !s.recipe.momentum)
    sentences.emplace_back("a momentum of 0.9: the plan has none");
  if (accelerate_kind(s) == AccelerateKind::deepspeed && s.choices.overlap != "none")
    sentences.emplace_back(
        "gradients are reduced when their backward has ended: Accelerate leaves overlap_comm to DeepSpeed, which has it"
        " on for stage 3 alone (--overlap none prices what runs)");
  if (const std::string package = package_sentence(s.optimizer); !package.empty()) sentences.push_back(package);
  return sentences;
}

std::vector<std::string> unsaid(const LaunchSettings& s) {
  std::vector<std::string> sentences = unsaid_of_model(s);
  for (std::string& sentence : unsaid_of_adapters(s)) sentences.push_back(std::move(sentence));
  for (std::string& sentence : unsaid_gradients("key of Accelerate", "mixed_precision", s))
    sentences.push_back(std::move(sentence));
  if (changes_moments(s)) sentences.push_back(unsaid_moments("Accelerate", s));
  return sentences;
}

LaunchFiles write(const LaunchSettings& settings, std::string_view release) {
  check_release(settings, release);
  LaunchFiles files;
  files.files.push_back({"accelerate.yaml", yaml_text(written_tree(accelerate_config_keys(), release, settings))});
  files.files.push_back({"train.py", accelerate_training_script(settings)});
  LaunchSettings of_script = settings;
  // FSDP itself recomputes where its YAML says so.
  if (accelerate_kind(settings) == AccelerateKind::fsdp) of_script.recompute.reset();
  of_script.model = hub_name(settings);
  for (LaunchFile& file : accelerate_launchers(trainer_words(RecipePlace::script_flags, of_script), settings))
    files.files.push_back(std::move(file));
  files.assumptions = assumptions(settings);
  files.unsaid = unsaid(settings);
  return files;
}

const Json* find_at(const Json& tree, std::string_view section, std::string_view key) {
  const Json* const inner = tree.find(section);
  return inner == nullptr ? nullptr : inner->find(key);
}

/// Keys of which every file of `accelerate config` has some, and files of trainers none.
void require_own(const Json& tree, std::string_view name) {
  constexpr std::array<std::string_view, 7> own{"compute_environment",   "distributed_type", "num_processes",
                                                "num_machines",          "mixed_precision",  "machine_rank",
                                                "main_training_function"};
  const bool is_own =
      std::any_of(own.begin(), own.end(), [&](std::string_view key) { return tree.find(key) != nullptr; });
  if (!is_own)
    throw NoKnownKey({std::string(name), "has neither distributed_type nor num_processes nor mixed_precision",
                      "a file of accelerate config", ""});
}

/// What Accelerate does where the file says nothing, and what another file says.
void settle(const Json& tree, Imported& imported) {
  LaunchSettings& s = imported.settings;
  const Json* const kind = tree.find("distributed_type");
  const bool is_fsdp = kind != nullptr && kind->if_string() != nullptr && *kind->if_string() == "FSDP";
  if (is_fsdp && !s.recompute) s.recompute = Recompute{};
  if (const Json* const file = find_at(tree, "deepspeed_config", "deepspeed_config_file")) {
    if (find_at(tree, "deepspeed_config", "zero_stage") == nullptr) s.zero_stage.reset();
    const std::string name = file->if_string() == nullptr ? "" : file->if_string()->substr(0, 200);
    imported.notes.other_files.push_back({"deepspeed_config.deepspeed_config_file", name});
  }
  const bool says_precision = tree.find("mixed_precision") != nullptr;
  if (!says_precision && find_at(tree, "deepspeed_config", "deepspeed_config_file") == nullptr)
    s.precision = PrecisionRecipe::fp32;
  if (kind == nullptr || kind->if_string() == nullptr || *kind->if_string() != "DEEPSPEED")
    take_autocast_gradients(s);
  else if (find_at(tree, "deepspeed_config", "deepspeed_config_file") == nullptr)
    settle_deepspeed_overlap(s);  // utils/dataclasses.py: DeepSpeedPlugin says nothing of it
}

Imported read(std::string_view text, std::string_view name) {
  if (is_script_name(name)) {
    Imported imported = read_trainer_script(text, name, accelerate_launch_flags(), accelerate_usual_flags());
    take_autocast_gradients(imported.settings);
    return imported;
  }
  if (name.ends_with(".json")) return deepspeed_target().read(text, name);  // that its YAML names
  std::int64_t usual = 0;
  const Json whole = read_yaml(text, name);
  if (whole.if_object() != nullptr) require_own(whole, name);
  const Json tree = without_usual_values(whole, accelerate_usual_values(), {}, usual);
  Imported imported;
  imported.notes = read_tree(accelerate_config_keys(), tree, name, imported.settings);
  imported.notes.ignored += usual;
  settle(tree, imported);
  return imported;
}

}  // namespace

LaunchTarget accelerate_target() {
  return {.framework = Framework::accelerate,
          .title = "Accelerate",
          .releases = {"1.5.2", "1.9.0", "1.15.0"},
          .revision = "huggingface/accelerate 1.15.0, as released on the Python package index",
          .write = write,
          .read = read,
          .keys = accelerate_config_keys};
}

}  // namespace plumbline
