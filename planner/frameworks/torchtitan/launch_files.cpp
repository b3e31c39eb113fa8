// torchtitan's files, both directions.
#include <algorithm>

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/syntax/toml.h"
#include "planner/frameworks/torch/schedule_names.h"
#include "planner/frameworks/torchtitan/command_line.h"
#include "planner/frameworks/torchtitan/flavors.h"
#include "planner/frameworks/torchtitan/launch_keys.h"
#include "planner/frameworks/torchtitan/recipe.h"

namespace plumbline {
namespace {

using namespace torchtitan;

bool has_pipeline(const LaunchSettings& s) { return s.pipeline_stages.value_or(1) > 1; }

std::vector<std::string> model_assumptions(const LaunchSettings& s) {
  const Flavor* const flavor = flavor_of(s.model);
  if (flavor == nullptr)
    return {"torchtitan has no flavor for " + (s.model.empty() ? "the network" : s.model) +
            ": register one and name it where the files say YOUR"};
  std::vector<std::string> all{"the tokenizer is read from ./assets/hf/" + std::string(flavor->checkpoint) +
                               " (scripts/download_hf_assets.py)"};
  return all;
}

/// Without which torchtitan does not start.
std::vector<std::string> missing(const LaunchSettings& s, std::string_view release) {
  const Flavor* const flavor = flavor_of(s.model);
  if (flavor == nullptr) return {};
  const std::string model(flavor->model);
  if (has_pipeline(s) && release == toml_release && !has_pipelines(flavor->model))
    return {"torchtitan v0.2.2 has no pipelines for " + model + " (pipelining_fn is None)"};
  if (release == first_recipe_release && flavor->model == "llama4")
    return {"torchtitan 0.3.0 has no recipes for llama4 (models/llama4/config_registry.py)"};
  return {};
}

/// What of the plan torchtitan has no key for.
std::vector<std::string> unsaid(const LaunchSettings& s) {
  std::vector<std::string> all;
  if (s.gradient_format == NumberFormat::bf16 && s.precision != PrecisionRecipe::bf16_pure)
    all.emplace_back("torchtitan keeps and reduces gradients in fp32 (mixed_precision_reduce), not in bf16");
  if (s.optimizer_format && *s.optimizer_format != NumberFormat::fp32 && s.precision != PrecisionRecipe::bf16_pure)
    all.emplace_back("torchtitan keeps the optimizer's moments in fp32");
  if (s.flash_attention == FlashAttention::off)
    all.emplace_back("torchtitan has no key that keeps attention from fused kernels");
  const bool has_model_ranks = has_pipeline(s) || s.tensor_parallel.value_or(1) > 1;
  if (s.zero_stage.value_or(0) == 0 && has_model_ranks && s.precision != PrecisionRecipe::fp32)
    all.emplace_back(
        "without FSDP, tensor and pipeline parallelism compute in training.dtype: torchtitan disables mixed precision "
        "there");
  return all;
}

std::vector<std::string> recipe_assumptions(const LaunchSettings& s, std::string_view release) {
  std::vector<std::string> all;
  if (release != toml_release)
    all.emplace_back("the optimizer, its learning rate and the data are those of torchtitan's recipe");
  else
    all.emplace_back("training.dataset is torchtitan's default, c4_test, a small sample: name your data");
  if (release == toml_release && !s.recipe.learning_rate)
    all.emplace_back("optimizer.lr is torchtitan's default, 8e-4");
  if (!s.recipe.steps) all.emplace_back("training.steps is that of torchtitan's default");
  if (has_pipeline(s) && !known_layers(s) && s.layers_per_stage.empty())
    all.emplace_back("the number of layers is not known: torchtitan divides them itself, two chunks a rank at most");
  if (has_pipeline(s) && s.schedule && !torch::is_by_name(*s.schedule))
    all.push_back(torch::schedule_file(*s.schedule) + " is read from the folder where the training starts");
  return all;
}

/// What recipes have no key for.
void refuse_in_recipes(const LaunchSettings& s, std::string_view release) {
  const auto refuse = [&](const std::string& what) {
    throw InputError({"--release " + std::string(release), what, "--release 0.2.2, or another plan", ""});
  };
  if (s.recompute && s.recompute->mode == RecomputeMode::every_nth)
    refuse("torchtitan recomputes by operator or in full, not " + to_text(*s.recompute));
  if (s.expert_parallel.value_or(1) > 1 && s.expert_tensor_parallel.value_or(1) > 1)
    refuse("torchtitan has no expert_tensor_parallel_degree");
  if (s.precision && is_fp8(*s.precision)) refuse("the converter for fp8 is not written for torchtitan's recipes");
}

LaunchFiles write_files(const LaunchSettings& s, std::string_view release) {
  const bool is_recipe = release != toml_release;
  if (is_recipe) refuse_in_recipes(s, release);
  const Json tree = written_tree(keys(), release, s);
  LaunchFiles written;
  LaunchedProgram program{"-m torchtitan.train", {}, s.model.empty() ? "torchtitan" : s.model};
  if (is_recipe) {
    written.files.push_back({"torchtitan_recipe.py", recipe_text(tree)});
    program.arguments = {"--module", "torchtitan_recipe", "--config", "plan"};
  } else {
    written.files.push_back({"torchtitan.toml", toml_text(tree)});
    program.arguments = {"--job.config_file", "torchtitan.toml"};
  }
  if (has_pipeline(s) && s.schedule && !torch::is_by_name(*s.schedule)) {
    const PipelineShape shape{*s.pipeline_stages, s.virtual_stages.value_or(1),
                              static_cast<std::int32_t>(s.micro_batches.value_or(1))};
    written.files.push_back({torch::schedule_file(*s.schedule), to_schedule_csv(compute_schedule(*s.schedule, shape))});
  }
  for (LaunchFile& file : launcher_files(program, s)) written.files.push_back(std::move(file));
  for (const auto& sentences : {model_assumptions(s), recipe_assumptions(s, release)})
    written.assumptions.insert(written.assumptions.end(), sentences.begin(), sentences.end());
  written.unsaid = unsaid(s);
  written.missing = missing(s, release);
  return written;
}

Json tree_of(const NamedText& file, Json::Object& flags, Imported& imported) {
  if (file.name.ends_with(".py")) return read_recipe(file.text, file.name);
  if (!is_script_name(file.name)) return read_toml(file.text, file.name);
  CommandLine line = read_command_line(file.text, file.name);
  fill_missing(imported.settings, line.imported.settings);
  ImportNotes& notes = imported.notes;
  notes.unread.insert(notes.unread.end(), line.imported.notes.unread.begin(), line.imported.notes.unread.end());
  notes.ignored += line.imported.notes.ignored;
  notes.other_files.insert(notes.other_files.end(), line.imported.notes.other_files.begin(),
                           line.imported.notes.other_files.end());
  flags = *with_fields(flags, line.tree).if_object();
  return Json(Json::Object{});
}

/// Flags of a command line count for more than the configuration, whatever the order of the files.
Imported read_files(const std::vector<NamedText>& files) {
  Imported imported;
  Json::Object flags;
  Json tree(Json::Object{});
  for (const NamedText& file : files) tree = with_fields(tree_of(file, flags, imported), tree);
  tree = with_fields(tree, Json(std::move(flags)));
  const std::string& name = files.front().name;
  const ImportNotes notes = read_tree(keys(), tree, name, imported.settings);
  imported.notes.unread.insert(imported.notes.unread.end(), notes.unread.begin(), notes.unread.end());
  imported.notes.ignored += notes.ignored;
  // Defaults are not taken for what a configuration says that is not here.
  const bool has_configuration =
      std::any_of(files.begin(), files.end(), [](const NamedText& file) { return !is_script_name(file.name); });
  if (!has_configuration && !imported.notes.other_files.empty()) return imported;
  try {
    settle(tree, imported.settings, imported.notes);
  } catch (const InputError& error) {
    const InputProblem& problem = error.problem();
    throw InputError(
        {name + (problem.where.empty() ? "" : ": " + problem.where), problem.what, problem.expected, problem.nearest});
  }
  return imported;
}

Imported read_file(std::string_view text, std::string_view name) {
  return read_files({{std::string(name), std::string(text)}});
}

}  // namespace

LaunchTarget torchtitan_target() {
  LaunchTarget target;
  target.framework = Framework::torchtitan;
  target.title = "torchtitan: TOML of v0.2.2, or a recipe of 0.3.0 or main";
  // What the framework's record says is v0.2.2's; main is by request.
  target.releases = {recipe_release, first_recipe_release, toml_release};
  target.revision =
      "v0.2.2, 73a0e6979 (2026-02-20); 0.3.0, as released on the Python package index; main, b5bcd76c6 (2026-08-21)";
  target.write = write_files;
  target.read = read_file;
  target.keys = torchtitan::keys;
  target.read_together = read_files;
  return target;
}

}  // namespace plumbline
