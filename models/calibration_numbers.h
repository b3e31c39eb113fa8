#pragma once
/// \file calibration_numbers.h: which numbers a CalibrationSet holds, which of them decide an answer, and their ranges.

#include <utility>

#include "models/calibration_set.h"

namespace plumbline {

/// In the order of their texts.
[[nodiscard]] std::vector<ParameterId> parameters_of(const CalibrationSet& set);
/// Those that decide a device and a stack of the set, in the order of their texts. Throws as CalibrationSet::of.
[[nodiscard]] std::vector<ParameterId> parameters_of(const CalibrationSet& set, const Device& device,
                                                     std::string_view stack);
/// The range that physics leaves a number (core/cost/calibration_fields.h); null: there is no such field.
[[nodiscard]] std::optional<std::pair<double, double>> range_of(const ParameterId& id);

}  // namespace plumbline
