#include "models/machine_catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "models/embedded.h"
#include "models/machine_aliases.h"
#include "models/name_or_path.h"
#include "models/this_computer.h"

namespace plumbline {
namespace {

using embedded::EmbeddedFile;

bool is_part(std::string_view file) { return file.starts_with("device-") || file.starts_with("fabric-"); }

MachineDocument read_embedded(const EmbeddedFile& file, const MachineParts& known) {
  const std::string source = "machines/" + std::string(file.name) + ".json";
  return read_machine(parse_json(file.text, source), source, known);
}

MachineParts read_parts() {
  MachineParts parts;
  for (const EmbeddedFile& file : embedded::machines()) {
    if (!is_part(file.name)) continue;
    MachineDocument document = read_embedded(file, {});
    if (document.device) parts.devices.push_back(std::move(*document.device));
    if (document.fabric) parts.fabrics.push_back(std::move(*document.fabric));
  }
  return parts;
}

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string without_alias(std::string_view name) {
  const std::string wanted = lower(name);
  for (const MachineAlias& entry : machine_alias_table)
    if (entry.alias == wanted) return std::string(entry.name);
  return wanted;
}

const EmbeddedFile* find_embedded_machine(std::string_view name) {
  const std::string wanted = without_alias(name);
  for (const EmbeddedFile& file : embedded::machines())
    if (file.name == wanted && !is_part(file.name)) return &file;
  return nullptr;
}

Cluster cluster_of(MachineDocument document, std::string_view source) {
  if (document.cluster) return std::move(*document.cluster);
  throw InputError({std::string(source) + ":", "no cluster in this machine file", "key \"cluster\"", ""});
}

bool is_this_computer(std::string_view name) { return lower(name) == this_computer_name; }

NameOrPath resolved(std::string_view text) {
  const EmbeddedFile* file = find_embedded_machine(text);
  const std::string name(is_this_computer(text) ? this_computer_name : file == nullptr ? "" : file->name);
  NameOrPath result = name_or_path(text, {name, true}, "");
  result.is_path = result.is_path || text.find('/') != std::string_view::npos;  // no machine is called like that
  return result;
}

std::string nearest(std::string_view name) {
  std::vector<std::string> candidates = machine_names();
  candidates.emplace_back(this_computer_name);
  if (std::string names = nearest_text(lower(name), candidates); !names.empty()) return names;
  for (const MachineAlias& entry : machine_alias_table) candidates.emplace_back(entry.alias);
  return nearest_text(lower(name), candidates);
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded::machines())
    if (!is_part(file.name)) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

const MachineParts& machine_parts() {
  static const MachineParts parts = read_parts();
  return parts;
}

Cluster find_machine(std::string_view name_or_path) {
  if (resolved(name_or_path).is_path)
    return cluster_of(read_machine(read_json_file(name_or_path), name_or_path, machine_parts()), name_or_path);
  if (is_this_computer(name_or_path)) return this_computer(computer_facts());
  if (const EmbeddedFile* file = find_embedded_machine(name_or_path))
    return cluster_of(read_embedded(*file, machine_parts()), file->name);
  throw InputError({"machine",
                    "\"" + std::string(name_or_path.substr(0, 100)) + "\" is neither in the catalogue nor a file",
                    "a name of the catalogue or the path of a plumbline.machine/1 file", nearest(name_or_path)});
}

std::string machine_name_warning(std::string_view name_or_path) { return resolved(name_or_path).warning; }

}  // namespace plumbline
