#include "core/io/feature_json.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/io/calibration_json.h"

namespace plumbline {
namespace {

std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (const FeatureField& field : stack_feature_fields()) all.emplace_back(field.key);
  return all;
}

NamedFeature feature_from_json(const std::string& key, const JsonPlace& place) {
  const FeatureField* field = find_feature(key);
  if (field == nullptr)
    throw InputError(
        {place.where(), "is no feature of a software stack", "one of " + joined(keys()), nearest_text(key, keys())});
  JsonObject object(place);
  const JsonPlace choice = object.at("choice");
  const std::string& word = choice.string();
  if (field->find(word) == nullptr)
    throw InputError({choice.where(), "\"" + word.substr(0, 60) + "\"", "one of " + joined(field->words()),
                      nearest_text(word, field->words())});
  NamedFeature feature{key, word, object.at("source").string()};
  object.finish();
  return feature;
}

}  // namespace

std::vector<NamedFeature> features_from_json(const JsonPlace& place) {
  std::vector<NamedFeature> features;
  for (const auto& [key, value] : JsonObject(place).members()) features.push_back(feature_from_json(key, value));
  return features;
}

Json features_json(const std::vector<NamedFeature>& features) {
  Json::Object object;
  for (const NamedFeature& feature : features)
    object.emplace_back(feature.name, Json::Object{{"choice", feature.choice}, {"source", feature.source}});
  return object;
}

NamedFeature feature_from_number(const FeatureField& field, const JsonPlace& number) {
  const auto largest = static_cast<double>(field.choices.size() - 1);
  const Coefficient read = coefficient_from_json(number, 0, largest);
  const double whole = std::round(read.value);
  if (whole != read.value)
    throw InputError({number.where() + "/value", "lies between two choices",
                      "the number of one of " + joined(field.words()) + ", from 0 on, or the feature \"" +
                          std::string(field.key) + "\"",
                      ""});
  return {std::string(field.key), std::string(field.choices[static_cast<std::size_t>(whole)].word), read.source};
}

void add_features(std::vector<NamedFeature>& features, const std::vector<NamedFeature>& more, const JsonPlace& place) {
  for (const NamedFeature& feature : more) {
    const bool is_there = std::any_of(features.begin(), features.end(),
                                      [&](const NamedFeature& each) { return each.name == feature.name; });
    if (is_there)
      throw InputError(
          {place.where(), "the feature " + feature.name + " is set twice", "one entry, under \"features\"", ""});
    features.push_back(feature);
  }
}

}  // namespace plumbline
