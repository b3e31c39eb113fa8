#include "models/network_catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "core/base/errors.h"
#include "models/embedded.h"
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
  for (const char c : without_organisation(name))
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
  const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.name == name; });
  return found == files.end() ? nullptr : &*found;
}

/// Loose spellings of names and aliases to files. Built once, when a name is not a file's own.
const std::map<std::string, const EmbeddedFile*, std::less<>>& spellings() {
  static const auto table = [] {
    std::map<std::string, const EmbeddedFile*, std::less<>> result;
    for (const EmbeddedFile& file : embedded::networks()) result.emplace(loose(file.name), &file);
    for (const auto& [alias, name] : network_aliases()) result.emplace(loose(alias), find_by_name(name));
    return result;
  }();
  return table;
}

const EmbeddedFile* find_embedded(std::string_view name) {
  if (const EmbeddedFile* file = find_by_name(name)) return file;
  const auto found = spellings().find(loose(name));
  return found == spellings().end() ? nullptr : found->second;
}

/// "models/my-net/config.json" is my-net, "my-net.json" too.
std::string name_of(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return stem == "config" && !folder.empty() ? folder : stem;
}

bool looks_like_path(std::string_view text) {
  return text.ends_with(".json") || text.starts_with(".") || text.starts_with("/");
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
  if (const EmbeddedFile* file = find_embedded(name_or_path)) return read_embedded(*file);
  std::filesystem::path path(name_or_path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    path /= "config.json";
  else if (!std::filesystem::exists(path, ignored) && !looks_like_path(name_or_path))
    refuse_name(name_or_path);
  const Json json = read_json_file(path);
  return read_network(JsonPlace(json, path.string()), name_of(path));
}

}  // namespace plumbline
