#include "core/io/residuals_json.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/calibration_json.h"
#include "core/io/json_choice.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_runs = 1'000'000'000;
constexpr std::int64_t largest_scale = 1'000'000'000'000;
constexpr std::string_view rows_key = "rows";

/// A coefficient's object with "rows" alongside its keys.
Residual residual_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Residual residual;
  residual.runs = object.at(rows_key).integer(0, most_runs);
  Json::Object rest;
  for (const Json::Member& member : *place.value().if_object())
    if (member.first != rows_key) rest.push_back(member);
  const Json sigma(std::move(rest));
  residual.sigma = coefficient_from_json(JsonPlace(sigma, place.where()), 0, largest_sigma);
  return residual;
}

std::vector<std::string> names_from_json(const std::optional<JsonPlace>& place) {
  std::vector<std::string> names;
  if (!place) return names;
  for (const JsonPlace& one : place->elements()) names.push_back(one.string());
  if (!std::is_sorted(names.begin(), names.end()))
    throw InputError({place->where(), "is not sorted", "names in alphabetical order", ""});
  return names;
}

MeasuredRange range_from_json(const JsonPlace& place) {
  const std::vector<JsonPlace> ends = place.elements();
  if (ends.size() != 2)
    throw InputError({place.where(), std::to_string(ends.size()) + " numbers", "the least and the most", ""});
  const std::int64_t least = ends[0].integer(1, largest_scale);
  return {least, ends[1].integer(least, largest_scale)};
}

RunRanges measured_from_json(const JsonPlace& place) {
  JsonObject object(place);
  RunRanges measured;
  measured.devices = names_from_json(object.find("devices"));
  measured.formats = names_from_json(object.find("formats"));
  measured.networks = names_from_json(object.find("networks"));
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (const auto range = object.find(to_text(static_cast<RunScale>(i)))) measured.scales[i] = range_from_json(*range);
  object.finish();
  return measured;
}

Json residual_json(const Residual& residual) {
  Json::Object object = *coefficient_json(residual.sigma).if_object();
  object.emplace_back(std::string(rows_key), residual.runs);
  return object;
}

Json measured_json(const RunRanges& measured) {
  Json::Object object;
  const auto add = [&](const std::string& key, const std::vector<std::string>& names) {
    Json::Array array;
    for (const std::string& name : names) array.emplace_back(name);
    if (!array.empty()) object.emplace_back(key, std::move(array));
  };
  add("devices", measured.devices);
  add("formats", measured.formats);
  add("networks", measured.networks);
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (const auto& range = measured.scales[i])
      object.emplace_back(std::string(to_text(static_cast<RunScale>(i))), Json::Array{range->least, range->most});
  return object;
}

}  // namespace

Residuals residuals_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Residuals residuals;
  residuals.regime = choice_from_json(object.at("regime"), calibration_regimes);
  residuals.time = residual_from_json(object.at("time"));
  if (const auto kinds = object.find("time_by_network"))
    for (const auto& [network, one] : JsonObject(*kinds).members())
      residuals.time_by_network.push_back({network, residual_from_json(one)});
  if (const auto memory = object.find("memory")) residuals.memory = residual_from_json(*memory);
  if (const auto measured = object.find("measured")) residuals.measured = measured_from_json(*measured);
  object.finish();
  return residuals;
}

std::array<RegimeSigma, calibration_regimes.size()> regimes_from_json(const JsonPlace& place) {
  JsonObject object(place);
  std::array<RegimeSigma, calibration_regimes.size()> regimes;
  for (const CalibrationRegime regime : calibration_regimes) {
    JsonObject one(object.at(to_text(regime)));
    regimes[static_cast<std::size_t>(regime)] = {coefficient_from_json(one.at("time"), 0, largest_sigma),
                                                 coefficient_from_json(one.at("memory"), 0, largest_sigma)};
    one.finish();
  }
  object.finish();
  return regimes;
}

Json residuals_json(const Residuals& residuals) {
  Json::Object object{{"regime", std::string(to_text(residuals.regime))}, {"time", residual_json(residuals.time)}};
  Json::Object kinds;
  for (const NetworkResidual& one : residuals.time_by_network) kinds.emplace_back(one.network, residual_json(one.time));
  if (!kinds.empty()) object.emplace_back("time_by_network", std::move(kinds));
  if (!residuals.memory.sigma.kind.empty()) object.emplace_back("memory", residual_json(residuals.memory));
  object.emplace_back("measured", measured_json(residuals.measured));
  return object;
}

Json regimes_json(const std::array<RegimeSigma, calibration_regimes.size()>& regimes) {
  Json::Object object;
  for (const CalibrationRegime regime : calibration_regimes) {
    const RegimeSigma& sigma = regimes[static_cast<std::size_t>(regime)];
    object.emplace_back(std::string(to_text(regime)), Json::Object{{"time", coefficient_json(sigma.time)},
                                                                   {"memory", coefficient_json(sigma.memory)}});
  }
  return object;
}

}  // namespace plumbline
