// Strategy and training in the schema of plan files are written from the rows of axes and of training's keys;
// scripts/regenerate_golden.sh writes them anew.

#include <set>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/io/strategy_json.h"
#include "core/io/training_json.h"
#include "core/plan/strategy_axes.h"
#include "tests/catch.h"
#include "tests/golden/schema_file.h"

namespace plumbline {
namespace {

constexpr const char* schema_file = "../../models/schemas/plan.schema.json";

Json::Object limits_of(const StrategyAxis& axis) {
  return {{"type", "integer"}, {"minimum", axis.least}, {"maximum", axis.most}};
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

Json::Object integer_schema(const TrainingKey& row) {
  return {{"type", "integer"}, {"minimum", row.least}, {"maximum", row.most}};
}

/// What a key of training may hold, as core/io/training_json.cpp reads it.
Json value_schema(const TrainingKey& row) {
  Json::Object value;
  if (!row.in_schema.empty()) value.emplace_back("description", std::string(row.in_schema));
  const auto add = [&](const Json::Object& members) { value.insert(value.end(), members.begin(), members.end()); };
  switch (row.value) {
    case TrainingValue::number: add(integer_schema(row)); break;
    case TrainingValue::number_or_null:
      add({{"anyOf", Json::Array{integer_schema(row), Json::Object{{"type", "null"}}}}});
      break;
    case TrainingValue::truth: add({{"type", "boolean"}}); break;
    case TrainingValue::choice: add({{"enum", names_json(row.names)}}); break;
    case TrainingValue::layer_ranges:
      add({{"type", "array"},
           {"items",
            Json::Object{{"type", "array"}, {"items", integer_schema(row)}, {"minItems", 2}, {"maxItems", 2}}}});
      break;
  }
  return value;
}

Json training_schema() {
  Json::Object properties;
  std::vector<std::string> required;
  for (const TrainingKey& row : training_keys()) {
    properties.emplace_back(std::string(row.key), value_schema(row));
    if (row.in_files == InFiles::required) required.emplace_back(row.key);
  }
  return Json::Object{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", names_json(required)},
                      {"additionalProperties", false}};
}

std::set<std::string> keys_of_object(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : *object.if_object()) keys.insert(key);
  return keys;
}

TEST_CASE("the schema of plan files has the keys and limits of the rows of axes and of training") {
  Json schema = with_value(checked_in_schema(schema_file), {"properties", "strategy"}, strategy_schema());
  schema = with_value(schema, {"properties", "training"}, training_schema());
  const std::string text = to_json_text(schema);
  CHECK(text == golden_text(schema_file, text));
}

TEST_CASE("the schema has the keys of a training in plan files, whose limits are those of the reader") {
  Training training;
  training.sequence_length = 1;
  training.global_batch = 1;
  training.adaptation.lora_targets = LoraTargets::attention;
  const Json written = to_json(training);
  const Json schema = training_schema();
  CHECK(keys_of_object(*schema.find("properties")) == keys_of_object(written));
  CHECK(to_json_text(to_json(training_from_json(JsonPlace(written, "plan.json")))) == to_json_text(written));
  for (const TrainingKey& row : training_keys()) {
    if (row.value != TrainingValue::number) continue;
    CAPTURE(row.key);
    for (const std::int64_t value : {row.least, row.most})
      CHECK_NOTHROW(training_from_json(JsonPlace(with_value(written, {row.key}, value), "plan.json")));
    for (const std::int64_t value : {row.least - 1, row.most + 1})
      CHECK_THROWS_AS(training_from_json(JsonPlace(with_value(written, {row.key}, value), "plan.json")), InputError);
  }
}

TEST_CASE("the schema has the keys of a strategy in plan files, and requires those that a usual one has") {
  Strategy unusual;
  for (const StrategyAxis& axis : strategy_axes())
    if (axis.in_files == InFiles::where_unusual)
      axis.set(unusual, axis.kind == AxisKind::number ? 2 : 1 - axis.get({}));
  Training training;
  training.optimizer_format = NumberFormat::bf16;
  const Json schema = strategy_schema();
  CHECK(keys_of_object(*schema.find("properties")) == keys_of_object(to_json(unusual, training)));
  const std::set<std::string> usual = keys_of_object(to_json(Strategy{}, Training{}));
  for (const Json& key : *schema.find("required")->if_array()) CHECK(usual.contains(*key.if_string()));
}

}  // namespace
}  // namespace plumbline
