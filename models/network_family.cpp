#include "models/network_family.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/network_catalog.h"

namespace plumbline {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string first_part(std::string_view name) { return std::string(name.substr(0, name.find('-'))); }

bool belongs(std::string_view name, std::string_view family) {
  if (family.empty() || !name.starts_with(family)) return false;
  return name.size() == family.size() || !is_letter(name[family.size()]) || !is_letter(family.back());
}

/// "llama-3" does not hold llama-30b: a number goes on as a letter does.
bool ends_inside_number(std::string_view name, std::string_view family) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return name.size() > family.size() && is_digit(family.back()) && is_digit(name[family.size()]);
}

}  // namespace

std::vector<std::string> family_members(std::string_view family) {
  std::string key(family.substr(0, 100));
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::vector<std::string> families;
  for (const std::string& name : network_names()) {
    if (families.empty() || families.back() != first_part(name)) families.push_back(first_part(name));
    if (belongs(name, key) && !ends_inside_number(name, key))
      found.emplace_back(-parameter_count(find_network(name).graph), name);
  }
  if (found.empty())
    throw InputError({"--family", "no name of the catalogue begins with \"" + key + "\"",
                      "the beginning of names of plan models, such as llama or qwen2.5", nearest_text(key, families)});
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [parameters, name] : found) names.push_back(std::move(name));
  return names;
}

std::string family_of(std::string_view name) {
  const std::vector<std::string> names = network_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return first_part(name);
  for (const auto& [alias, stands_for] : network_aliases())
    if (alias == name) return first_part(stands_for);
  return "";
}

}  // namespace plumbline
