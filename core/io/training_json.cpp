#include "core/io/training_json.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/json_array.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

LayerRange layer_range(const JsonPlace& place, const TrainingKey& row) {
  const std::vector<JsonPlace> ends = place.elements();
  if (ends.size() != 2)
    throw InputError({place.where(), std::to_string(ends.size()) + " numbers", "the first and the last layer", ""});
  const std::int64_t first = ends[0].integer(row.least, row.most);
  return {first, ends[1].integer(first, row.most)};
}

std::vector<std::string> names_of_lora_targets() {
  std::vector<std::string> names;
  for (const LoraTargets targets : all_lora_targets) names.emplace_back(to_text(targets));
  return names;
}

/// "all, qkv or attention"
std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::int64_t place_among(const std::vector<std::string>& names, const JsonPlace& place) {
  const std::string& text = place.string();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw InputError({place.where(), "\"" + text + "\"", listed_names(names), ""});
  return found - names.begin();
}

Json training_value_json(const Training& training, const TrainingKey& row) {
  if (row.value == TrainingValue::layer_ranges)
    return json_array(training.adaptation.frozen_layers, [](const LayerRange& range) {
      return Json::Array{range.first, range.last};
    });
  const std::optional<std::int64_t> value = row.get(training);
  if (!value) return {};
  if (row.value == TrainingValue::truth) return *value != 0;
  if (row.value == TrainingValue::choice) return row.names[static_cast<std::size_t>(*value)];
  return *value;
}

void read_training_value(const JsonPlace& place, const TrainingKey& row, Training& training) {
  switch (row.value) {
    case TrainingValue::number:
    case TrainingValue::number_or_null: return row.set(training, place.integer(row.least, row.most));
    case TrainingValue::truth: return row.set(training, place.boolean() ? 1 : 0);
    case TrainingValue::choice: return row.set(training, place_among(row.names, place));
    case TrainingValue::layer_ranges:
      for (const JsonPlace& range : place.elements())
        training.adaptation.frozen_layers.push_back(layer_range(range, row));
  }
}

using MaybeNumber = std::optional<std::int64_t>;

std::vector<TrainingKey> make_training_keys() {
  return {
      {.key = "sequence_length",
       .in_schema = "tokens",
       .value = TrainingValue::number,
       .in_files = InFiles::required,
       .least = 1,
       .most = longest_sequence,
       .get = [](const Training& t) -> MaybeNumber { return t.sequence_length; },
       .set = [](Training& t, std::int64_t value) { t.sequence_length = value; }},
      {.key = "global_batch",
       .in_schema = "sequences of a step",
       .value = TrainingValue::number,
       .in_files = InFiles::required,
       .least = 1,
       .most = largest_global_batch,
       .get = [](const Training& t) -> MaybeNumber { return t.global_batch; },
       .set = [](Training& t, std::int64_t value) { t.global_batch = value; }},
      {.key = "token_budget",
       .in_schema = "",
       .value = TrainingValue::number_or_null,
       .in_files = InFiles::always,
       .least = 1,
       .most = most_tokens,
       .get = [](const Training& t) -> MaybeNumber { return t.token_budget; },
       .set = [](Training& t, std::int64_t value) { t.token_budget = value; }},
      {.key = "freeze_embeddings",
       .in_schema = "",
       .value = TrainingValue::truth,
       .in_files = InFiles::always,
       .get = [](const Training& t) -> MaybeNumber { return t.adaptation.freeze_embeddings ? 1 : 0; },
       .set = [](Training& t, std::int64_t value) { t.adaptation.freeze_embeddings = value != 0; }},
      {.key = "frozen_layers",
       .in_schema = "",
       .value = TrainingValue::layer_ranges,
       .in_files = InFiles::always,
       .least = 0,
       .most = most_layers},
      {.key = "lora_rank",
       .in_schema = "",
       .value = TrainingValue::number,
       .in_files = InFiles::always,
       .least = 0,
       .most = largest_lora_rank,
       .get = [](const Training& t) -> MaybeNumber { return t.adaptation.lora_rank; },
       .set = [](Training& t, std::int64_t value) { t.adaptation.lora_rank = value; }},
      {.key = "lora_targets",
       .in_schema = "",
       .value = TrainingValue::choice,
       .in_files = InFiles::where_unusual,
       .names = names_of_lora_targets(),
       .get = [](const Training& t) -> MaybeNumber { return static_cast<std::int64_t>(t.adaptation.lora_targets); },
       .set =
           [](Training& t, std::int64_t value) {
             t.adaptation.lora_targets = all_lora_targets[static_cast<std::size_t>(value)];
           }},
  };
}

}  // namespace

const std::vector<TrainingKey>& training_keys() {
  static const std::vector<TrainingKey> keys = make_training_keys();
  return keys;
}

Json to_json(const Training& training) {
  Json::Object object;
  for (const TrainingKey& row : training_keys())
    if (row.in_files != InFiles::where_unusual || row.get(training) != row.get({}))
      object.emplace_back(std::string(row.key), training_value_json(training, row));
  return object;
}

Training training_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Training training;
  for (const TrainingKey& row : training_keys()) {
    const auto value = row.in_files == InFiles::required ? object.at(row.key) : object.find(row.key);
    if (value) read_training_value(*value, row, training);
  }
  object.finish();
  return training;
}

}  // namespace plumbline
