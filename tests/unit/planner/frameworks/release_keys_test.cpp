// Tables of launch targets against what releases of the frameworks take: planner/frameworks/*/releases, which
// scripts/framework_keys.py derives from the releases' own sources.

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/megatron/releases.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline::release_keys_test {
namespace {

struct Release {
  std::string name;
  Json keys;
};

/// In the order in which has_release compares them.
std::vector<Release> releases_of(const LaunchTarget& target) {
  const std::string beginning = std::string(to_text(target.framework)) + "-";
  std::vector<Release> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() + "/planner/frameworks")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json" || !name.starts_with(beginning)) continue;
    const Json list = read_json_file(entry.path().string());
    all.push_back({name.substr(beginning.size()), *list.find("keys")});
    CHECK(*list.find("framework")->if_string() == to_text(target.framework));
    CHECK(*list.find("release")->if_string() == all.back().name);
    CHECK(!list.find("source")->if_string()->empty());
  }
  std::sort(all.begin(), all.end(), [](const Release& a, const Release& b) {
    return a.name != b.name && has_release({.since = a.name}, b.name);
  });
  return all;
}

/// Keys of torchtitan's TOML that a recipe in Python says by a call or an assignment (torchtitan/recipe.cpp).
std::string in_recipe(std::string_view path, std::string_view release) {
  if (release == "0.2.2") return std::string(path);
  if (path == "model.hf_assets_path") return "hf_assets_path";
  if (path == "model.name" || path == "model.flavor") return "model_spec";
  return path.starts_with("activation_checkpoint.") ? "activation_checkpoint" : std::string(path);
}

/// What `plan export` writes in the place of a table's key; empty where the release is refused.
std::string spelled(const LaunchTarget& target, std::string_view path, std::string_view release) {
  if (target.framework == Framework::torchtitan) return in_recipe(path, release);
  if (target.framework != Framework::megatron_lm) return std::string(path);
  try {
    return megatron::arguments_for(release, {{std::string(path), Json("adam")}}).front().first;
  } catch (const InputError&) {
    return "";
  }
}

bool is_known(const Release& release, std::string_view path) {
  if (!path.ends_with('*')) return release.keys.find(path) != nullptr;
  const Json::Object& keys = *release.keys.if_object();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Json::Member& key) { return key.first.starts_with(path.substr(0, path.size() - 1)); });
}

std::string nearest_in(const Release& release, const std::string& path) {
  std::vector<std::string> names;
  for (const Json::Member& key : *release.keys.if_object()) names.push_back(key.first);
  return nearest_text(path, names);
}

/// "--atention-backend is no key of megatron-lm core_v0.19.0; nearest: --attention-backend"; empty where it is one.
std::string problem(const LaunchTarget& target, const Release& release, const std::string& path) {
  if (is_known(release, path)) return "";
  const std::string nearest = nearest_in(release, path);
  return path + " is no key of " + std::string(to_text(target.framework)) + " " + release.name +
         (nearest.empty() ? "" : "; nearest: " + nearest) + "\n";
}

/// Keys of the exported script, of launchers and of other packages (PyTorch's optimizers), whose releases are not the
/// framework's.
bool is_of_another(const LaunchKey& key) {
  constexpr std::array others{"torch/distributed/run.py; sbatch", "the exported script"};
  constexpr std::array calls{"fully_shard.", "DataLoader.", "CausalLanguageModel.", "optimizer.params."};
  return std::any_of(others.begin(), others.end(), [&](std::string_view one) { return key.source == one; }) ||
         std::any_of(calls.begin(), calls.end(), [&](std::string_view one) { return key.path.starts_with(one); });
}

std::vector<const LaunchTarget*> targets_with_tables() {
  std::vector<const LaunchTarget*> all;
  for (const LaunchTarget& target : launch_targets())
    if (target.framework != Framework::pytorch) all.push_back(&target);  // whose keys are variables of its own script
  return all;
}

/// Releases that a target writes for without a list of their keys, apart by spaces.
std::string releases_without_list(const LaunchTarget& target) {
  const std::vector<Release> lists = releases_of(target);
  std::string missing;
  for (const std::string_view release : target.releases)
    if (std::none_of(lists.begin(), lists.end(), [&](const Release& one) { return one.name == release; }))
      missing += std::string(release) + " ";
  return missing;
}

std::size_t shortest_list(const LaunchTarget& target) {
  std::size_t least = std::string::npos;
  for (const Release& list : releases_of(target)) least = std::min(least, list.keys.if_object()->size());
  return least;
}

TEST_CASE("every release that is written for has a list of its keys") {
  for (const LaunchTarget& target : launch_targets()) {
    CAPTURE(to_text(target.framework), releases_without_list(target));
    CHECK(releases_without_list(target).empty());
    CHECK(shortest_list(target) > 40);
  }
}

/// What of the keys that a table writes for a release is not the release's; `written`: how many it writes.
std::string problems_of_written(const LaunchTarget& target, const Release& release, std::size_t& written) {
  std::string problems;
  for (const LaunchKey& key : target.keys()) {
    if (!key.write || is_of_another(key) || !has_release(key, release.name)) continue;
    const std::string path = spelled(target, key.path, release.name);
    if (!path.empty()) {
      ++written;
      problems += problem(target, release, path);
    } else if (is_known(release, key.path)) {
      problems += std::string(key.path) + " is refused for " + release.name + ", which has it\n";
    }
  }
  return problems;
}

TEST_CASE("every key that is written for a release is one of the release's own") {
  for (const LaunchTarget* target : targets_with_tables())
    for (const Release& release : releases_of(*target)) {
      if (std::find(target->releases.begin(), target->releases.end(), release.name) == target->releases.end()) continue;
      std::size_t written = 0;
      const std::string problems = problems_of_written(*target, release, written);
      INFO(problems);
      CHECK(problems.empty());
      CHECK(written > 5);
    }
}

/// Read in files that are older than the oldest list: DeepSpeed before 0.5, torchtitan of 2024, Megatron-LM of 2020.
bool is_older(std::string_view path) {
  constexpr std::array older{"--checkpoint-num-layers", "zero_optimization.cpu_offload_params",
                             "quantize_training",       "training.batch_size",
                             "training.warmup_steps",   "parallelism.pipeline_parallel_microbatches"};
  return std::find(older.begin(), older.end(), path) != older.end();
}

/// Keys with no value and no effect are left alone where a file has them, and are not held here.
bool matters(const LaunchKey& key) { return key.write || key.read || key.effect != KeyEffect::none; }

TEST_CASE("every key that is read is known to a release") {
  for (const LaunchTarget* target : targets_with_tables()) {
    const std::vector<Release> releases = releases_of(*target);
    std::string problems;
    for (const LaunchKey& key : target->keys()) {
      const bool is_known_to_one =
          std::any_of(releases.begin(), releases.end(), [&](const Release& one) { return is_known(one, key.path); });
      if (matters(key) && !is_of_another(key) && !is_older(key.path) && !is_known_to_one)
        problems += problem(*target, releases.back(), std::string(key.path));
    }
    INFO(problems);
    CHECK(problems.empty());
  }
}

TEST_CASE("a key that no release has is named with the nearest") {
  const LaunchTarget target = megatron_lm_target();
  const std::vector<Release> releases = releases_of(target);
  REQUIRE(!releases.empty());
  CHECK(releases.back().name == "main");
  CHECK(problem(target, releases.back(), "--atention-backend") ==
        "--atention-backend is no key of megatron-lm main; nearest: --attention-backend\n");
  CHECK(problem(target, releases.back(), "--lr").empty());
}

}  // namespace
}  // namespace plumbline::release_keys_test
