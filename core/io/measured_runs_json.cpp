#include "core/io/measured_runs_json.h"

#include <filesystem>

#include <algorithm>
#include <span>

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "core/io/run_rules_json.h"
#include "core/measurement/run_fields.h"

namespace plumbline {
namespace {

constexpr std::string_view rows_format = "plumbline.rows/1";

/// What becomes of unknown keys.
enum class Unknown : std::uint8_t { listed, refused };

bool is_too_long(const std::string& text) { return std::ssize(text) > longest_run_word; }

std::string word_of(const JsonPlace& place) {
  if (const bool* truth = place.value().if_bool()) return *truth ? "true" : "false";
  if (place.value().if_string() == nullptr)
    throw InputError({place.where(), "is " + std::string(place.value().type_name()), "a string, true or false", ""});
  const std::string& text = place.string();
  if (is_too_long(text))
    throw InputError({place.where(), "is " + std::to_string(text.size()) + " bytes long",
                      "at most " + std::to_string(longest_run_word), ""});
  return text;
}

/// Texts; the layers of each pipeline chunk may be an array of numbers, which becomes "4,4,3".
std::string field_word(const RunWordField& field, const JsonPlace& place) {
  if (field.value == RunWordValue::text || place.value().if_array() == nullptr) return word_of(place);
  std::string text;
  for (const JsonPlace& count : place.elements())
    text += (text.empty() ? "" : ",") + std::to_string(count.integer(0, most_chunk_layers));
  if (text.empty() || is_too_long(text))
    throw InputError({place.where(), text.empty() ? "is empty" : "is too long", "layers of each pipeline chunk", ""});
  return text;
}

void read_fields(JsonObject& object, std::span<const RunNumberField> numbers, std::span<const RunWordField> words,
                 RunFields& fields) {
  for (const RunNumberField& field : numbers)
    if (const auto place = object.find(field.key))
      fields.numbers[std::string(field.key)] = place->integer(field.smallest, field.largest);
  for (const RunWordField& field : words)
    if (const auto place = object.find(field.key)) fields.words[std::string(field.key)] = field_word(field, *place);
}

std::set<std::string, std::less<>> string_set(const JsonPlace& place) {
  std::set<std::string, std::less<>> result;
  for (const JsonPlace& element : place.elements()) result.insert(element.string());
  return result;
}

/// Flags whose value is one text, number or truth value.
void read_arguments(const JsonPlace& place, RunFields& fields) {
  JsonObject object(place);
  for (const auto& [flag, value] : object.members()) {
    const Json& json = value.value();
    std::string text;
    if (json.if_string() != nullptr || json.if_bool() != nullptr)
      text = word_of(value);
    else if (json.if_integer() != nullptr || json.if_double() != nullptr)
      text = to_json_text(json, -1);
    else
      continue;
    while (text.ends_with('\n')) text.pop_back();
    fields.words[std::string(row_argument_prefix) + flag] = text;
  }
}

/// `model_spec` says of a network what its source says; other keys are data of others.
RunFields shape_from(const JsonPlace& place) {
  JsonObject object(place);
  RunFields shape;
  read_fields(object, run_shape_numbers, run_shape_words, shape);
  return shape;
}

/// What is done with keys that nobody asked for.
class UnknownKeys {
 public:
  UnknownKeys(Unknown unknown, std::set<UnreadKey>& unread) : unknown_(unknown), unread_(unread) {}

  /// `prefix`: of the keys as they are reported.
  void finish(const JsonObject& object, const std::string& prefix) {
    if (unknown_ == Unknown::refused) return object.finish();
    for (const auto& [key, nearest] : object.unread()) unread_.insert({prefix + key, nearest});
  }

 private:
  Unknown unknown_;
  std::set<UnreadKey>& unread_;
};

RunMeasurement measurement_from(const JsonPlace& place, UnknownKeys& unknown) {
  JsonObject object(place);
  RunMeasurement m;
  for (const RunMeasuredField& field : run_measured_fields) {
    const auto found = object.find(field.key);
    if (!found) continue;
    const double value = found->number(0, field.largest);
    if (value <= 0) throw InputError({found->where(), "is not positive", "what was measured, above 0", ""});
    m.*field.value = value;
  }
  unknown.finish(object, "measured/");
  return m;
}

std::string text_of(JsonObject& object, std::string_view key) {
  const auto found = object.find(key);
  return found ? found->string() : "";
}

MeasuredRun row_from(const JsonPlace& place, UnknownKeys unknown) {
  JsonObject object(place);
  MeasuredRun run;
  const JsonPlace id = object.at("id");
  run.question.id = id.string();
  if (run.question.id.empty()) throw InputError({id.where(), "is empty", "a name that no other run has", ""});
  run.source = text_of(object, "source");
  run.notes = text_of(object, "notes");
  read_fields(object, run_number_fields, run_word_fields, run.question.fields);
  if (const auto flags = object.find("args")) read_arguments(*flags, run.question.fields);
  if (const auto shape = object.find("model_spec")) run.question.shape = shape_from(*shape);
  if (const auto list = object.find("unverified_fields")) run.question.unverified = string_set(*list);
  if (const auto list = object.find("use")) run.uses = string_set(*list);
  if (const auto truth = object.find("suspect")) run.suspect = truth->boolean();
  if (const auto measured = object.find("measured")) run.measured = measurement_from(*measured, unknown);
  if (const auto truth = object.find("oom")) run.measured.out_of_memory = truth->boolean();
  unknown.finish(object, "");
  return run;
}

/// What `common` says holds where a run is silent.
void complete(MeasuredRun& run, const RunFields& common) {
  for (const auto& [key, value] : common.words) run.question.fields.words.emplace(key, value);
  for (const auto& [key, value] : common.numbers) run.question.fields.numbers.emplace(key, value);
}

SourceRules source_rules_from(const JsonPlace& place) {
  JsonObject object(place);
  SourceRules rules;
  const auto read = [&](std::string_view key, std::vector<RunRule>& into) {
    if (const auto list = object.find(key))
      for (const JsonPlace& rule : list->elements()) into.push_back(row_rule_from_json(rule));
  };
  read("meanings", rules.meanings);
  read("assumptions", rules.assumptions);
  object.finish();
  return rules;
}

RunSet read_own(const JsonPlace& document, std::string name) {
  JsonObject object = open_document(document, rows_format);
  RunSet set{.name = std::move(name), .runs = {}};
  if (const auto given = object.find("name")) set.name = given->string();
  if (const auto truth = object.find("held_out")) set.held_out = truth->boolean();
  const std::string source = text_of(object, "source");
  const std::string notes = text_of(object, "notes");
  RunFields common;
  if (const auto place = object.find("common")) {
    JsonObject fields(*place);
    read_fields(fields, run_number_fields, run_word_fields, common);
    fields.finish();
  }
  if (const auto rules = object.find("rules")) set.rules = source_rules_from(*rules);
  for (const JsonPlace& element : object.at("rows").elements()) {
    MeasuredRun run = row_from(element, {Unknown::refused, set.unread});
    complete(run, common);
    if (run.source.empty()) run.source = source;
    if (run.notes.empty()) run.notes = notes;
    set.runs.push_back(std::move(run));
  }
  object.finish();
  return set;
}

void refuse_repeated_ids(const RunSet& set, const std::string& where) {
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < set.runs.size(); ++i)
    if (!seen.insert(set.runs[i].question.id).second)
      throw InputError({where, "run " + std::to_string(i) + " repeats the id \"" + set.runs[i].question.id + "\"",
                        "an id of its own for each run", ""});
}

}  // namespace

RunSet runs_from_json(const JsonPlace& document, std::string name) {
  RunSet set{.name = std::move(name), .runs = {}};
  if (document.value().if_array() == nullptr && document.value().if_object() == nullptr)
    throw InputError({document.where(), "is " + std::string(document.value().type_name()),
                      "an array of runs or a " + std::string(rows_format) + " document", ""});
  if (document.value().if_object() != nullptr) {
    set = read_own(document, std::move(set.name));
  } else {
    for (const JsonPlace& element : document.elements())
      set.runs.push_back(row_from(element, {Unknown::listed, set.unread}));
  }
  refuse_repeated_ids(set, document.where());
  return set;
}

RunSet read_runs_file(const std::string& file) {
  const Json json = read_json_file(file);
  return runs_from_json(JsonPlace(json, file), std::filesystem::path(file).stem().string());
}

std::vector<RunSet> read_run_files(const std::vector<std::string>& files) {
  std::vector<RunSet> sets;
  for (const std::string& file : files) sets.push_back(read_runs_file(file));
  return sets;
}

}  // namespace plumbline
