// Keys of measured runs in their schema and on docs/rows.md are written from the tables that their reader loops over;
// scripts/regenerate_golden.sh writes them anew. What a key's description does not come from is by hand in the schema.

#include <string>
#include <vector>

#include "core/io/measured_runs_json.h"
#include "core/measurement/run_fields.h"
#include "tests/catch.h"
#include "tests/golden/schema_file.h"

namespace plumbline::rows_schema_test {
namespace {

constexpr const char* schema_file = "../../models/schemas/rows.schema.json";
constexpr const char* page_file = "../../docs/rows.md";

Json::Object described(std::string_view meaning) { return {{"description", std::string(meaning)}}; }

void add_members(Json::Object& object, const Json::Object& members) {
  object.insert(object.end(), members.begin(), members.end());
}

Json field_schema(const RunNumberField& field) {
  Json::Object value = described(field.meaning);
  add_members(value, {{"type", "integer"}, {"minimum", field.smallest}, {"maximum", field.largest}});
  return value;
}

Json field_schema(const RunWordField& field) {
  Json::Array kinds;
  if (field.value == RunWordValue::text_or_layers)
    kinds.push_back(
        Json::Object{{"type", "array"},
                     {"minItems", 1},
                     {"items", Json::Object{{"type", "integer"}, {"minimum", 0}, {"maximum", most_chunk_layers}}}});
  kinds.push_back(Json::Object{{"type", "string"}, {"maxLength", longest_run_word}});
  kinds.push_back(Json::Object{{"type", "boolean"}});
  Json::Object value = described(field.meaning);
  value.emplace_back("anyOf", std::move(kinds));
  return value;
}

Json field_schema(const RunMeasuredField& field) {
  Json::Object value = described(field.meaning);
  add_members(value, {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", field.largest}});
  return value;
}

template <class Fields>
void add_fields(Json::Object& properties, const Fields& fields) {
  for (const auto& field : fields) properties.emplace_back(std::string(field.key), field_schema(field));
}

Json fields_schema() {
  Json::Object properties;
  add_fields(properties, run_number_fields);
  add_fields(properties, run_word_fields);
  return properties;
}

Json shape_schema() {
  Json::Object properties;
  add_fields(properties, run_shape_numbers);
  add_fields(properties, run_shape_words);
  return properties;
}

Json measured_schema() {
  Json::Object properties;
  add_fields(properties, run_measured_fields);
  return properties;
}

/// The keys of a run that is no field: who it is ahead of the fields, the parts of it behind them.
Json row_schema(const Json& row) {
  Json::Object properties;
  for (const std::string_view key : {"id", "source", "notes"})
    properties.emplace_back(std::string(key), value_at(row, {key}));
  add_members(properties, *fields_schema().if_object());
  for (const std::string_view key : {"args", "model_spec", "unverified_fields", "use", "suspect", "measured", "oom"})
    properties.emplace_back(std::string(key), value_at(row, {key}));
  const Json whole = with_value(std::move(properties), {"model_spec", "properties"}, shape_schema());
  return with_value(whole, {"measured", "properties"}, measured_schema());
}

const std::vector<std::string_view> common_place{"properties", "common", "properties"};
const std::vector<std::string_view> row_place{"properties", "rows", "items", "properties"};

Json rows_schema() {
  const Json schema = with_value(checked_in_schema(schema_file), common_place, fields_schema());
  return with_value(schema, row_place, row_schema(value_at(schema, {"properties", "rows", "items", "properties"})));
}

std::string limit_text(const Json& schema, std::string_view key) {
  return std::to_string(*value_at(schema, {key}).if_integer());
}

/// What the value of a key is, in a few words.
std::string kind_text(const Json& schema) {
  if (const Json* kinds = schema.find("anyOf"))
    return kinds->if_array()->size() > 2 ? "text or numbers" : "text, true or false";
  const std::string type = *value_at(schema, {"type"}).if_string();
  if (type == "integer") return limit_text(schema, "minimum") + " to " + limit_text(schema, "maximum");
  if (type == "number") return "above 0";
  if (type == "boolean") return "true or false";
  if (type == "array") return "texts";
  return type == "string" ? "text" : "object";
}

/// A cell of a table in Markdown.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string key_table(const Json& properties) {
  std::string text = "| key | value | meaning |\n|---|---|---|\n";
  for (const auto& [key, schema] : *properties.if_object())
    text += "| `" + key + "` | " + kind_text(schema) + " | " + cell(*value_at(schema, {"description"}).if_string()) +
            " |\n";
  return text;
}

std::string page_with_keys(const std::string& page, const Json& row) {
  constexpr std::string_view heading = "## Keys\n";
  const std::size_t begin = page.find(heading);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("\n## ", begin);
  REQUIRE(end != std::string::npos);
  return page.substr(0, begin) + std::string(heading) + "\n" + key_table(row) + "\nOf `model_spec`:\n\n" +
         key_table(value_at(row, {"model_spec", "properties"})) + "\nOf `measured`:\n\n" +
         key_table(value_at(row, {"measured", "properties"})) + page.substr(end);
}

/// A value that a key takes.
Json some_value(const Json& schema) {
  if (schema.find("anyOf") != nullptr) return "words";
  const std::string type = *value_at(schema, {"type"}).if_string();
  if (type == "integer") return value_at(schema, {"minimum"});
  if (type == "number") return 1.5;
  if (type == "boolean") return true;
  if (type == "array") return Json::Array{"words"};
  if (type == "string") return "words";
  Json::Object object;
  if (const Json* properties = schema.find("properties"))
    for (const auto& [key, member] : *properties->if_object()) object.emplace_back(key, some_value(member));
  return object;
}

TEST_CASE("the schema of measured runs has the keys, ranges and meanings of the tables that the reader loops over") {
  const std::string text = to_json_text(rows_schema());
  CHECK(text == golden_text(schema_file, text));
}

TEST_CASE("the page of measured runs lists every key of the schema") {
  const Json schema = rows_schema();
  const std::string text =
      page_with_keys(checked_in_text(page_file), value_at(schema, {"properties", "rows", "items", "properties"}));
  CHECK(text == golden_text(page_file, text));
}

TEST_CASE("the reader takes every key of the schema in a document, where unknown keys are refused") {
  const Json schema = rows_schema();
  const Json row = some_value(value_at(schema, {"properties", "rows", "items"}));
  const Json common = some_value(value_at(schema, {"properties", "common"}));
  const Json document = Json::Object{{"format", "plumbline.rows/1"}, {"common", common}, {"rows", Json::Array{row}}};
  const RunSet set = runs_from_json(JsonPlace(document, "runs.json"), "runs");
  REQUIRE(set.runs.size() == 1);
  const MeasuredRun& run = set.runs.front();
  CHECK(run.question.fields.numbers.size() == run_number_fields.size());
  CHECK(run.question.fields.words.size() == run_word_fields.size());
  REQUIRE(run.question.shape);
  CHECK(run.question.shape->numbers.size() == run_shape_numbers.size());
  CHECK(run.question.shape->words.size() == run_shape_words.size());
  for (const RunMeasuredField& field : run_measured_fields) {
    CAPTURE(field.key);
    CHECK(run.measured.*field.value == 1.5);
  }
}

}  // namespace
}  // namespace plumbline::rows_schema_test
