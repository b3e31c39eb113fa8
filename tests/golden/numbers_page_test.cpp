// docs/numbers.md is written from the shipped calibrations and priors; scripts/regenerate_golden.sh writes it anew.

#include <map>

#include "models/calibration_numbers.h"
#include "models/calibration_set.h"
#include "models/parameter_priors.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"

namespace plumbline::numbers_page_test {
namespace {

/// What measured runs tell of a number, as the fit wrote it beside the number (planner/calibrate/shipped_fit.cpp).
enum class Told : std::uint8_t { identified, moved, held, never_fitted };

Told told_of(const Coefficient& number) {
  if (number.kind == "fitted") return Told::identified;
  if (number.source.find("is as good with it") != std::string::npos) return Told::held;
  if (number.source.find("moved but not identified") != std::string::npos) return Told::moved;
  return Told::never_fitted;
}

/// Where a field is identified, moved or held.
using Places = std::map<Told, std::vector<std::string>>;

std::string listed(const Places& places, Told told) {
  const auto found = places.find(told);
  if (found == places.end()) return "";
  std::string text;
  for (const std::string& place : found->second) text += (text.empty() ? "`" : ", `") + place + "`";
  return text;
}

std::string numbered(const std::map<std::string, Places>& fields, Told told) {
  std::size_t count = 0;
  for (const auto& [field, places] : fields)
    if (const auto found = places.find(told); found != places.end()) count += found->second.size();
  return std::to_string(count);
}

std::map<std::string, Places> fitted_fields() {
  const CalibrationSet& set = CalibrationSet::shipped();
  const PriorTable priors = shipped_priors();
  std::map<std::string, Places> fields;
  for (const ParameterId& id : parameters_of(set)) {
    const Told told = told_of(set.at(id));
    if (told == Told::never_fitted || prior_of(priors, id) == nullptr) continue;
    const std::string text = to_text(id);
    fields[id.field][told].push_back(text.substr(0, text.size() - id.field.size() - 1));
  }
  return fields;
}

}  // namespace

TEST_CASE("the page of numbers says which of them no measured run tells") {
  const std::map<std::string, Places> fields = fitted_fields();
  std::string page =
      "# Which numbers measured runs tell\n\n"
      "Written from `models/calibrations` by `scripts/regenerate_golden.sh`; do not edit. What a number is says\n"
      "`plan stacks NAME`, with its source; how all are fitted at once, [calibrations](calibrations.md).\n\n"
      "Of the numbers that a fit may move, runs *identify* " +
      numbered(fields, Told::identified) + ": their uncertainty is less than that of their prior. " +
      numbered(fields, Told::moved) + "\nmoved with the runs without being identified, and " +
      numbered(fields, Told::held) +
      " lie at their priors, or as far from the number that they are like as\n"
      "their prior says: the fit is as good with it "
      "([decision 0082](decisions/0082-numbers-held-at-their-priors.md)), so no measured run tells them. What each\n"
      "serves then is the mechanism that its name states, at a value that somebody published or assumed.\n\n"
      "| number | identified | moved, no run tells | held at its prior |\n|---|---|---|---|\n";
  for (const auto& [field, places] : fields)
    page += "| `" + field + "` | " + listed(places, Told::identified) + " | " + listed(places, Told::moved) + " | " +
            listed(places, Told::held) + " |\n";
  CHECK(page == golden_text("../../docs/numbers.md", page));
}

}  // namespace plumbline::numbers_page_test
