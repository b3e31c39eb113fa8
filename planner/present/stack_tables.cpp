// Software stacks.
#include <array>
#include <cstdio>

#include "core/cost/residuals.h"
#include "models/stack_composition.h"
#include "planner/present/catalogue_tables.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

/// Four significant digits.
Cell short_number(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.4g", value);
  return {{text.data(), static_cast<std::size_t>(length)}, value};
}

/// What a place of a set is called: "fusion/compiled", "own", another stack's name, "base".
std::string decided_by(const std::string& place, const SoftwareStack& stack) {
  if (place == "stack/" + stack.name) return "own";
  if (place.starts_with("trait/")) return place.substr(std::string_view("trait/").size());
  if (place.starts_with("stack/")) return place.substr(std::string_view("stack/").size());
  return place;
}

}  // namespace

std::string releases_text(const SoftwareStack& stack) {
  if (!stack.releases) return "";
  const Releases& releases = *stack.releases;
  return releases.oldest == releases.newest ? releases.oldest : releases.oldest + " to " + releases.newest;
}

Table stack_table() {
  Table table{{{"name", "name", Unit::text, "name in the catalogue", left},
               {"framework", "framework", Unit::text, "whose releases they are", left},
               {"releases", "releases", Unit::text, "releases that it covers", left},
               {"runs", "runs", Unit::number, "measured runs that its step times rest on"},
               {"sigma", "sigma", Unit::per_cent, "standard deviation of a predicted step time"},
               {"regime", "regime", Unit::text, "calibrated, few rows or unknown", left}},
              {}};
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const std::string& name : set.stack_names()) {
    const SoftwareStack stack = set.software_stack(name);
    const Residuals residuals = set.stack(name).residuals;
    table.rows.push_back({words(name), words(stack.framework), words(releases_text(stack)), whole(residuals.time.runs),
                          per_cent_cell(residuals.time.sigma), words(to_text(residuals.regime))});
  }
  return table;
}

Table stack_axis_table(const CalibrationSet& set, const SoftwareStack& stack) {
  Table table{{{"axis", "axis", Unit::text, "in what stacks differ", left},
               {"value", "value", Unit::text, "how this one is", left},
               {"meaning", "which means", Unit::text, "what follows from it", left}},
              {}};
  for (const AxisChoice& choice : axis_choices_of(set, stack)) {
    const AxisValue* value = choice.value.empty() ? nullptr : set.axis_table().find(choice.axis)->find(choice.value);
    table.rows.push_back(
        {words(choice.axis), words(choice.value), words(value == nullptr ? "numbers of its own" : value->description)});
  }
  return table;
}

Table feature_table(const CalibrationSet& set, const SoftwareStack& stack) {
  Table table{{{"feature", "feature", Unit::text, "what stacks do in one of several ways", left},
               {"choice", "choice", Unit::text, "how this one does it", left},
               {"decided_by", "decided by", Unit::text, "the axis value or stack that states it", left},
               {"source", "source", Unit::text, "where it is from", left}},
              {}};
  for (const DecidedFeature& one : decided_features(set, stack))
    table.rows.push_back({words(one.feature.name), words(one.feature.choice), words(decided_by(one.place, stack)),
                          words(one.feature.source)});
  return table;
}

Table coefficient_table(const CalibrationSet& set, const SoftwareStack& stack) {
  Table table{{{"number", "number", Unit::text, "a coefficient of the model of this stack", left},
               {"value", "value", Unit::number, "its value"},
               {"sigma", "+-", Unit::per_cent, "one standard deviation of it"},
               {"kind", "kind", Unit::text, "fitted, measured or assumed", left},
               {"decided_by", "decided by", Unit::text, "the axis value or stack that states it", left},
               {"source", "source", Unit::text, "where it is from", left}},
              {}};
  for (const DecidedCoefficient& one : decided_coefficients(set, stack))
    table.rows.push_back({words(one.id.field), short_number(one.coefficient.value),
                          per_cent_cell(one.coefficient.relative_sigma, 0), words(one.coefficient.kind),
                          words(decided_by(place_of(one.id), stack)), words(one.coefficient.source)});
  return table;
}

}  // namespace plumbline::present
