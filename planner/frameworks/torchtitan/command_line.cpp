#include "planner/frameworks/torchtitan/command_line.h"

#include <algorithm>
#include <charconv>

#include "core/base/errors.h"
#include "planner/frameworks/launch/trainer_other_flags.h"
#include "planner/frameworks/syntax/arguments.h"
#include "planner/frameworks/syntax/shell_words.h"

namespace plumbline::torchtitan {
namespace {

/// "parallelism.tensor_parallel_degree" of "--parallelism.tensor-parallel-degree"; empty: no field.
std::string field_of(std::string flag) {
  if (!flag.starts_with("--")) return "";
  flag.erase(0, 2);
  const std::size_t dot = flag.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == flag.size()) return "";
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

Json::Object object_of(const Json& value) { return value.if_object() == nullptr ? Json::Object() : *value.if_object(); }

void put(Json::Object& tree, const std::string& field, Json value) {
  const std::size_t dot = field.find('.');
  const std::string name = field.substr(0, dot);
  auto found = std::find_if(tree.begin(), tree.end(), [&](const Json::Member& one) { return one.first == name; });
  if (found == tree.end()) found = tree.insert(tree.end(), {name, Json()});
  if (dot == std::string::npos) {
    found->second = std::move(value);
    return;
  }
  Json::Object inner = object_of(found->second);
  put(inner, field.substr(dot + 1), std::move(value));
  found->second = std::move(inner);
}

/// Of a variable that the script assigns, itself or with a default, or ahead of a command.
std::string variable(const ShellScript& script, std::string_view name) {
  const std::vector<std::string>* const values = script.variables.find(name);
  if (values != nullptr) return values->empty() ? "" : values->front();
  for (const ShellCommand& command : script.commands)
    if (const auto found = command.environment.find(name); found != command.environment.end()) return found->second;
  return "";
}

void read_variables(const ShellScript& script, Imported& imported) {
  const std::string count = variable(script, "NGPU");
  std::int64_t devices = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), devices);
  constexpr std::int64_t most = 1'000'000;
  if (error == std::errc{} && end == count.data() + count.size() && devices > 0 && devices <= most)
    imported.settings.devices_per_node = devices;
  if (const std::string file = variable(script, "CONFIG_FILE"); !file.empty())
    imported.notes.other_files.push_back({"CONFIG_FILE", file.substr(0, 200)});
}

}  // namespace

CommandLine read_command_line(std::string_view text, std::string_view name) {
  CommandLine line;
  const Json said = read_arguments(text, name);
  read_variables(read_shell(text, name), line.imported);
  Json::Object fields;
  Json::Object others;
  for (const auto& [flag, value] : *said.if_object()) {
    const std::string field = field_of(flag);
    if (field == "job.config_file" || flag == "--config") {
      if (value.if_string() != nullptr && !is_unresolved(value))
        line.imported.notes.other_files.push_back({flag, value.if_string()->substr(0, 200)});
    } else if (is_unresolved(value)) {
      line.imported.notes.unread.push_back(flag + ": its value " + *value.if_string() + " is not in the file");
    } else if (field.empty()) {
      others.emplace_back(flag, value);
    } else {
      put(fields, field, value);
    }
  }
  line.tree = std::move(fields);
  const ImportNotes notes = read_tree(starter_flags(), Json(std::move(others)), name, line.imported.settings);
  line.imported.notes.unread.insert(line.imported.notes.unread.end(), notes.unread.begin(), notes.unread.end());
  line.imported.notes.ignored += notes.ignored;
  if (!line.imported.settings.nodes && line.imported.settings.devices_per_node) line.imported.settings.nodes = 1;
  return line;
}

Json with_fields(const Json& tree, const Json& more) {
  Json::Object all = object_of(tree);
  for (const auto& [name, value] : object_of(more)) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&, &named = name](const auto& one) { return one.first == named; });
    if (found == all.end())
      all.emplace_back(name, value);
    else
      found->second = value.if_object() == nullptr ? value : with_fields(found->second, value);
  }
  return all;
}

}  // namespace plumbline::torchtitan
