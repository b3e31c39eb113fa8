// The strategy in the schema of plan files is written from the rows of its axes; scripts/regenerate_golden.sh writes it
// anew.

#include <initializer_list>

#include "core/io/strategy_json.h"
#include "core/plan/strategy_axes.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"

namespace plumbline {
namespace {

constexpr const char* schema_file = "../../models/schemas/plan.schema.json";

Json::Object limits_of(const StrategyAxis& axis) {
  return {{"type", "integer"}, {"minimum", axis.least}, {"maximum", axis.most}};
}

Json names_json(const std::vector<std::string>& names) {
  Json::Array array;
  for (const std::string& name : names) array.emplace_back(name);
  return array;
}

/// What the key of an axis may hold, as core/io/strategy_json.cpp reads it.
Json value_schema(const StrategyAxis& axis) {
  Json::Object value;
  const std::string description = axis.kind == AxisKind::recompute ? recompute_names_text(", ") : axis.in_schema;
  if (!description.empty()) value.emplace_back("description", description);
  switch (axis.kind) {
    case AxisKind::number:
      for (Json::Member& member : limits_of(axis)) value.push_back(std::move(member));
      break;
    case AxisKind::toggle: value.emplace_back("type", "boolean"); break;
    case AxisKind::choice: value.emplace_back("enum", names_json(axis.names)); break;
    case AxisKind::recompute: value.emplace_back("type", "string"); break;
    case AxisKind::layers:
      value.emplace_back("type", "array");
      value.emplace_back("items", limits_of(axis));
      return Json::Object{{"anyOf", Json::Array{std::move(value), Json::Object{{"type", "null"}}}}};
  }
  return value;
}

/// Keys in the order of plan files; precisions and the optimizer are the recipe's.
Json strategy_schema() {
  const Json text = Json::Object{{"type", "string"}};
  Json::Object properties;
  std::vector<std::string> required;
  const auto add_recipe = [&] {
    properties.emplace_back("precision", text);
    properties.emplace_back("gradient_precision",
                            Json::Object{{"anyOf", Json::Array{text, Json::Object{{"type", "null"}}}}});
    properties.emplace_back("optimizer", text);
    required.insert(required.end(), {"precision", "optimizer"});
  };
  bool has_recipe = false;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::file_place)) {
    if (!has_recipe && axis->file_place > StrategyAxis::recipe_place) add_recipe(), has_recipe = true;
    properties.emplace_back(axis->key, value_schema(*axis));
    if (axis->in_files == InFiles::required) required.push_back(axis->key);
  }
  properties.emplace_back(
      "optimizer_precision",
      Json::Object{{"description", "of its moments, where they are not as usual"}, {"type", "string"}});
  return Json::Object{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", names_json(required)},
                      {"additionalProperties", false}};
}

/// The object with that member's value in the place of the one at `keys`.
Json with_value(const Json& json, std::initializer_list<std::string_view> keys, const Json& value) {
  if (keys.size() == 0) return value;
  REQUIRE(json.find(*keys.begin()) != nullptr);
  Json::Object changed = *json.if_object();
  for (auto& [key, member] : changed)
    if (key == *keys.begin()) member = keys.size() == 1 ? value : with_value(member, {*(keys.begin() + 1)}, value);
  return changed;
}

TEST_CASE("the schema of plan files has the keys and limits of the rows of axes") {
  std::ifstream file(std::filesystem::path(source_folder()) / "tests/golden" / schema_file, std::ios::binary);
  std::ostringstream before;
  before << file.rdbuf();
  const Json schema = parse_json(before.str(), schema_file);
  const std::string text = to_json_text(with_value(schema, {"properties", "strategy"}, strategy_schema()));
  CHECK(text == golden_text(schema_file, text));
}

TEST_CASE("the schema has the keys of a strategy in plan files, and requires those that a usual one has") {
  const auto keys_of = [](const Json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : *object.if_object()) keys.insert(key);
    return keys;
  };
  Strategy unusual;
  for (const StrategyAxis& axis : strategy_axes())
    if (axis.in_files == InFiles::where_unusual)
      axis.set(unusual, axis.kind == AxisKind::number ? 2 : 1 - axis.get({}));
  Training training;
  training.optimizer_format = NumberFormat::bf16;
  const Json schema = strategy_schema();
  CHECK(keys_of(*schema.find("properties")) == keys_of(to_json(unusual, training)));
  const std::set<std::string> usual = keys_of(to_json(Strategy{}, Training{}));
  for (const Json& key : *schema.find("required")->if_array()) CHECK(usual.contains(*key.if_string()));
}

}  // namespace
}  // namespace plumbline
