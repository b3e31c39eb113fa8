// A command line of a Trainer script as settings, with what its flags say together.
#include <algorithm>
#include <array>

#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/syntax/arguments.h"

namespace plumbline {
namespace {

std::string text_of(const Json& value) {
  if (const std::string* const word = value.if_string()) return *word;
  std::string text;
  if (const Json::Array* const words = value.if_array())
    for (const Json& one : *words) text += (text.empty() ? "" : " ") + text_of(one);
  return text;
}

std::string text_at(const Json& tree, std::string_view flag) {
  const Json* const value = tree.find(flag);
  return value == nullptr ? "" : text_of(*value);
}

bool is_read(const std::vector<LaunchKey>& rows, std::string_view flag, const Json& value) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const LaunchKey& row) { return row.path == flag && reads(row, value); });
}

/// The tree without values that the text does not hold, which are named.
Json resolved(const Json& tree, const std::vector<LaunchKey>& rows, std::vector<std::string>& notes) {
  Json::Object kept;
  for (const auto& [flag, value] : *tree.if_object())
    if (is_unresolved(value) && is_read(rows, flag, value))
      notes.push_back(flag + ": its value " + value.if_string()->substr(0, 60) + " is not in the file");
    else
      kept.emplace_back(flag, value);
  return kept;
}

/// "full_shard auto_wrap" (training_args.py: FSDPOption).
void read_sharding(const Json& tree, Imported& imported) {
  if (tree.find("--fsdp") == nullptr) return;
  LaunchSettings& s = imported.settings;
  const std::string options = text_at(tree, "--fsdp");
  const auto has = [&](std::string_view option) { return options.find(option) != std::string::npos; };
  s.zero_stage = has("no_shard") ? 0 : has("shard_grad_op") || has("hybrid_shard_zero2") ? 2 : 3;
  if (has("hybrid_shard") && s.devices_per_node) s.shard_group = degree_value(Json(*s.devices_per_node));
  if (!has("offload")) return;
  imported.notes.unread.emplace_back("--fsdp offload changes memory and time and is not modelled");
  imported.notes.decisive.push_back(imported.notes.unread.back());
}

/// Other files that say how it is launched: "auto" and an object in JSON are none.
void note_files(const Json& tree, ImportNotes& notes) {
  for (const std::string_view flag : {"--deepspeed", "--deepspeed_config", "--deepspeed_config_file", "--config_file"})
    if (const std::string name = text_at(tree, flag); !name.empty())
      notes.other_files.push_back({std::string(flag), name.substr(0, 200)});
}

void note_optimizer(const Json& tree, const LaunchSettings& s, ImportNotes& notes) {
  const std::string name = text_at(tree, "--optim");
  if (name.empty() || s.optimizer) return;
  notes.unread.push_back("--optim " + name.substr(0, 40) +
                         " changes memory and time and is not modelled: adamw is priced");
}

/// torchrun and `deepspeed` start one node where nobody says how many.
void take_one_node(const Json& said, LaunchSettings& s) {
  static constexpr std::array<std::string_view, 6> others{"--nnodes",       "--num_nodes", "--nodes",
                                                          "--num_machines", "--hostfile",  "#SBATCH --nodes"};
  const bool says_nodes =
      std::any_of(others.begin(), others.end(), [&](std::string_view flag) { return said.find(flag) != nullptr; });
  if (s.devices_per_node && !says_nodes && said.find("#SBATCH -N") == nullptr && !s.nodes) s.nodes = 1;
}

}  // namespace

Imported read_trainer_script(std::string_view text, std::string_view name, const std::vector<LaunchKey>& starter,
                             const std::vector<UsualValue>& usual) {
  std::vector<LaunchKey> rows = starter;
  const std::vector<LaunchKey> own = trainer_flags(RecipePlace::script_flags);
  rows.insert(rows.end(), own.begin(), own.end());
  const Json said = read_arguments(text, name);
  std::vector<std::string> notes;
  std::int64_t count = 0;
  const Json tree = without_usual_values(resolved(said, rows, notes), usual, {}, count);
  Imported imported;
  imported.notes = read_tree(rows, tree, name, imported.settings);
  imported.notes.ignored += count;
  imported.notes.unread.insert(imported.notes.unread.end(), notes.begin(), notes.end());
  read_sharding(tree, imported);
  note_optimizer(tree, imported.settings, imported.notes);
  note_files(tree, imported.notes);
  take_one_node(said, imported.settings);
  return imported;
}

}  // namespace plumbline
