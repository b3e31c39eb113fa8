#include "models/parameter_priors.h"

#include <algorithm>

#include "core/base/errors.h"
#include "models/embedded.h"

namespace plumbline {
namespace {

constexpr double smallest_value = 1e-12;
constexpr double largest_value = 1e15;
constexpr double smallest_sigma = 1e-3;
constexpr double largest_prior_sigma = 5;

ParameterPrior prior_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ParameterPrior prior;
  for (const JsonPlace& path : object.at("paths").elements()) prior.paths.push_back(path.string());
  prior.value = object.at("value").number(smallest_value, largest_value);
  prior.relative_sigma = object.at("relative_sigma").number(smallest_sigma, largest_prior_sigma);
  if (const auto smallest = object.find("smallest")) prior.smallest = smallest->number(0, largest_value);
  if (const auto largest = object.find("largest")) prior.largest = largest->number(smallest_value, largest_value);
  if (const auto around = object.find("around")) {
    prior.around = parameter_id_from_text(around->string());
    if (!prior.around)
      throw InputError({around->where(), "\"" + around->string().substr(0, 120) + "\" is no path of a number",
                        "a path such as base/step_factor", ""});
  }
  prior.source = object.at("source").string();
  object.finish();
  return prior;
}

}  // namespace

PriorTable priors_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.priors/1");
  (void)object.at("description").string();
  PriorTable table;
  for (const JsonPlace& prior : object.at("priors").elements()) table.push_back(prior_from_json(prior));
  object.finish();
  return table;
}

PriorTable shipped_priors() {
  for (const embedded::EmbeddedFile& file : embedded::calibrations()) {
    if (file.name != "priors") continue;
    const Json json = parse_json(file.text, "calibrations/priors.json");
    return priors_from_json(JsonPlace(json, "calibrations/priors.json"));
  }
  throw InternalError("the catalogue holds priors");
}

bool matches_path(std::string_view pattern, std::string_view path) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  if (!path.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= path.size(); ++from)
    if (matches_path(rest, path.substr(from))) return true;
  return false;
}

const ParameterPrior* prior_of(const PriorTable& table, const ParameterId& id) {
  const std::string path = to_text(id);
  for (const ParameterPrior& prior : table)
    if (std::any_of(prior.paths.begin(), prior.paths.end(),
                    [&](const std::string& pattern) { return matches_path(pattern, path); }))
      return &prior;
  return nullptr;
}

}  // namespace plumbline
