#include "models/stack_composition.h"

#include <algorithm>
#include <span>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"

namespace plumbline {
namespace {

/// `take(coefficients, features, id)` of each place, nearer ones later; the id of its numbers but for the field.
template <class Take>
void visit_places(const CalibrationSet& set, const SoftwareStack& stack, const Take& take) {
  const StackAxisTable& table = set.axis_table();
  take(table.base, table.base_features, ParameterId::of_base(""));
  for (const SoftwareStack* each : lineage(set, stack)) {
    for (const AxisChoice& choice : each->axis_choices) {
      const AxisValue& value = *table.find(choice.axis)->find(choice.value);
      take(value.coefficients, value.features, ParameterId::of_axis_value(choice.axis, choice.value, ""));
    }
    take(each->coefficients, each->features, ParameterId::of_stack(without_choices(each->name), ""));
  }
}

}  // namespace

std::vector<const SoftwareStack*> lineage(const CalibrationSet& set, const SoftwareStack& stack) {
  std::vector<const SoftwareStack*> line{&stack};
  while (!line.back()->like.empty()) {
    const SoftwareStack* parent = set.find(line.back()->like);
    if (parent == nullptr) break;
    check(line.size() <= set.stacks().size(), "no stack is like itself: `add` sees to it");
    line.push_back(parent);
  }
  std::reverse(line.begin(), line.end());
  return line;
}

std::vector<AxisChoice> axis_choices_of(const CalibrationSet& set, const SoftwareStack& stack) {
  std::vector<AxisChoice> chosen;
  for (const StackAxis& axis : set.axis_table().axes) chosen.push_back({axis.name, ""});
  for (const SoftwareStack* each : lineage(set, stack))
    for (const AxisChoice& own : each->axis_choices)
      for (AxisChoice& choice : chosen)
        if (choice.axis == own.axis) choice.value = own.value;
  return chosen;
}

std::vector<DecidedCoefficient> decided_coefficients(const CalibrationSet& set, const SoftwareStack& stack) {
  std::vector<DecidedCoefficient> result(stack_fields.size());
  visit_places(set, stack, [&](const std::vector<NamedCoefficient>& coefficients, const auto&, ParameterId id) {
    for (const NamedCoefficient& c : coefficients) {
      id.field = c.name;
      result[static_cast<std::size_t>(find_field(stack_fields, c.name) - stack_fields.data())] = {id, c.coefficient};
    }
  });
  return result;
}

std::vector<DecidedFeature> decided_features(const CalibrationSet& set, const SoftwareStack& stack) {
  const std::span<const FeatureField> fields = stack_feature_fields();
  std::vector<DecidedFeature> result(fields.size());
  visit_places(set, stack, [&](const auto&, const std::vector<NamedFeature>& features, const ParameterId& id) {
    for (const NamedFeature& feature : features)
      result[static_cast<std::size_t>(find_feature(feature.name) - fields.data())] = {place_of(id), feature};
  });
  return result;
}

}  // namespace plumbline
