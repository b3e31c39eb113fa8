#pragma once
/// \file stack_composition.h: what decides each number and feature of a stack: base, axis value, or a stack's own.
///
/// Where several do, the nearest one to the stack decides (core/cost/software_stack.h says the order).

#include "models/calibration_set.h"

namespace plumbline {

/// Which number of a set a coefficient of a stack takes.
struct DecidedCoefficient {
  ParameterId id;
  Coefficient coefficient;
};

/// A feature of a stack, and where in the set it is stated: "base", "trait/AXIS/VALUE" or "stack/NAME".
struct DecidedFeature {
  std::string place;
  NamedFeature feature;
};

/// The stacks that it is like, the furthest first, and the stack itself.
[[nodiscard]] std::vector<const SoftwareStack*> lineage(const CalibrationSet& set, const SoftwareStack& stack);
/// The value that a stack, or one that it is like, chose on every axis, in the order of the table; empty where own
/// numbers stand for an axis.
[[nodiscard]] std::vector<AxisChoice> axis_choices_of(const CalibrationSet& set, const SoftwareStack& stack);
/// In the order of the fields of StackCalibration.
[[nodiscard]] std::vector<DecidedCoefficient> decided_coefficients(const CalibrationSet& set,
                                                                   const SoftwareStack& stack);
/// In the order of stack_feature_fields().
[[nodiscard]] std::vector<DecidedFeature> decided_features(const CalibrationSet& set, const SoftwareStack& stack);

}  // namespace plumbline
