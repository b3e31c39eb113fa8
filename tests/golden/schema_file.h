#pragma once
/// \file schema_file.h: a checked-in schema, parts of which tests write from tables of the program.

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"

namespace plumbline {

[[nodiscard]] inline Json names_json(const std::vector<std::string>& names) {
  Json::Array array;
  for (const std::string& name : names) array.emplace_back(name);
  return array;
}

/// The text before a test writes it anew. `name` as for golden_text.
[[nodiscard]] inline std::string checked_in_text(const std::string& name) {
  std::ifstream file(std::filesystem::path(source_folder()) / "tests/golden" / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[nodiscard]] inline Json checked_in_schema(const std::string& name) { return parse_json(checked_in_text(name), name); }

[[nodiscard]] inline Json value_at(const Json& json, std::initializer_list<std::string_view> keys) {
  const Json* value = &json;
  for (const std::string_view key : keys) {
    value = value->find(key);
    REQUIRE(value != nullptr);
  }
  return *value;
}

/// The object with that member's value in the place of the one at `keys`.
[[nodiscard]] inline Json with_value(const Json& json, const std::vector<std::string_view>& keys, const Json& value) {
  if (keys.empty()) return value;
  REQUIRE(json.find(keys.front()) != nullptr);
  Json::Object changed = *json.if_object();
  for (auto& [key, member] : changed)
    if (key == keys.front()) member = with_value(member, {keys.begin() + 1, keys.end()}, value);
  return changed;
}

}  // namespace plumbline
