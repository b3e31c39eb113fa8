#include "models/network_catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "core/base/errors.h"
#include "core/base/escape.h"
#include "core/base/found_by_name.h"
#include "core/base/joined.h"
#include "core/io/json_file.h"
#include "models/embedded.h"
#include "models/import/hugging_face.h"
#include "models/import/onnx/onnx_network.h"
#include "models/name_or_path.h"
#include "models/network_config.h"
#include "models/network_file.h"

namespace plumbline {
namespace {

using embedded::EmbeddedFile;

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// "meta-llama/Meta-Llama-3-70B" -> "Meta-Llama-3-70B"; "vit-b/16" stays.
std::string_view without_organisation(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash != std::string_view::npos && has_letter(name.substr(slash)) ? name.substr(slash + 1) : name;
}

/// What two spellings of one name share.
std::string loose(std::string_view name) {
  std::string key;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

JsonPlace place_of(const Json& json, const EmbeddedFile& file) {
  return JsonPlace(json, "networks/" + std::string(file.name) + ".json");
}

Network read_embedded(const EmbeddedFile& file) {
  const Json json = parse_json(file.text, "networks/" + std::string(file.name) + ".json");
  return read_network(place_of(json, file), std::string(file.name));
}

const EmbeddedFile* find_by_name(std::string_view name) {
  const auto files = embedded::networks();
  return named(files, name);
}

using Spellings = std::map<std::string, const EmbeddedFile*, std::less<>>;

/// Loose spellings of names and aliases to files. Built once, when a name is not a file's own.
const Spellings& spellings() {
  static const auto table = [] {
    Spellings result;
    for (const EmbeddedFile& file : embedded::networks()) result.emplace(loose(file.name), &file);
    for (const auto& [alias, name] : network_aliases()) result.emplace(loose(alias), find_by_name(name));
    return result;
  }();
  return table;
}

/// The same with no hub organisation before the name.
const Spellings& bare_spellings() {
  static const auto table = [] {
    Spellings result;
    for (const auto& [alias, name] : network_aliases())
      result.emplace(loose(without_organisation(alias)), find_by_name(name));
    return result;
  }();
  return table;
}

const EmbeddedFile* found_in(const Spellings& table, std::string_view name) {
  const auto found = table.find(loose(name));
  return found == table.end() ? nullptr : found->second;
}

struct Found {
  const EmbeddedFile* file = nullptr;
  bool is_exact = false;
};

Found find_embedded_network(std::string_view name) {
  if (const EmbeddedFile* file = find_by_name(name)) return {file, true};
  if (const EmbeddedFile* file = found_in(spellings(), name)) return {file, true};
  const std::string_view bare = without_organisation(name);
  const EmbeddedFile* file = found_in(spellings(), bare);
  return {file != nullptr ? file : found_in(bare_spellings(), bare), false};
}

constexpr std::string_view folder_file = "config.json";

NameOrPath resolved(std::string_view text, Found found) {
  return name_or_path(text, {found.file == nullptr ? "" : std::string(found.file->name), found.is_exact}, folder_file);
}

/// "models/my-net/config.json" is my-net, "my-net.json" too; in a form that plan files may carry.
std::string name_of(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return printable(stem == "config" && !folder.empty() ? folder : stem);
}

/// The file itself, or the config in the folder.
std::filesystem::path config_file(std::string_view text) {
  std::filesystem::path path(text);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path /= folder_file;
  return path;
}

[[noreturn]] void refuse_name(std::string_view name) {
  const std::vector<std::string> names = network_names();
  std::vector<std::string> nearest = nearest_names(without_organisation(name), names);
  if (nearest.empty()) {
    std::vector<std::string> aliases;
    for (const auto& [alias, stands_for] : network_aliases()) aliases.push_back(alias);
    nearest = nearest_names(without_organisation(name), aliases);
  }
  std::string text;
  for (const std::string& candidate : nearest) text += (text.empty() ? "" : ", ") + candidate;
  throw InputError({"network", "\"" + std::string(name.substr(0, 100)) + "\" is neither in the catalogue nor a file",
                    "a name of the catalogue or the path of a config.json", text});
}

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded::networks()) names.emplace_back(file.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> network_aliases() {
  std::vector<std::pair<std::string, std::string>> result;
  for (const EmbeddedFile& file : embedded::networks()) {
    const Json json = parse_json(file.text, "networks/" + std::string(file.name) + ".json");
    for (std::string& alias : read_network_header(place_of(json, file)).aliases)
      result.emplace_back(std::move(alias), std::string(file.name));
  }
  std::sort(result.begin(), result.end());
  return result;
}

Network find_network(std::string_view name_or_path) {
  if (onnx::is_reference(name_or_path)) return import_onnx(name_or_path);
  const Found found = find_embedded_network(name_or_path);
  if (!resolved(name_or_path, found).is_path) {
    if (found.file == nullptr) refuse_name(name_or_path);
    return read_embedded(*found.file);
  }
  const std::filesystem::path path = config_file(name_or_path);
  const Json json = read_json_file(path);
  return read_network(JsonPlace(json, path.string()), name_of(path));
}

NetworkReadAs find_network_as(std::string_view path, std::string_view model_type) {
  const std::vector<std::string> types = hugging_face_model_types();
  if (std::find(types.begin(), types.end(), model_type) == types.end())
    throw InputError({"model type", "\"" + std::string(model_type.substr(0, 60)) + "\" is not understood",
                      "one of " + joined(types, " "), nearest_text(model_type, types)});
  const Found found = find_embedded_network(path);
  if (!resolved(path, found).is_path) {
    if (found.file == nullptr) refuse_name(path);
    throw InputError({std::string(path.substr(0, 100)), "is in the catalogue and has its type",
                      "the path of a config.json, or the name without another type", ""});
  }
  const std::filesystem::path file = config_file(path);
  Json config = config_as(read_json_file(file), model_type);
  Network network = import_hugging_face(JsonPlace(config, file.string()), name_of(file));
  network.source = file.string() + ", read as " + std::string(model_type);
  return {std::move(network), std::move(config)};
}

std::string network_name_warning(std::string_view name_or_path) {
  return resolved(name_or_path, find_embedded_network(name_or_path)).warning;
}

}  // namespace plumbline
