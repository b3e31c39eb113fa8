#pragma once
/// \file calibration_json.h: device calibrations ("plumbline.calibration/1"), in and out, and coefficients as JSON.
///
/// Every number is {"value", "relative_sigma", "kind": "fitted" | "measured" | "assumed", "source"}.

#include "core/cost/calibration.h"
#include "core/cost/stack_feature_table.h"
#include "core/io/json.h"

namespace plumbline {

/// Strict; throw InputError.
[[nodiscard]] DeviceCalibration device_calibration_from_json(const JsonPlace& root);
[[nodiscard]] Coefficient coefficient_from_json(const JsonPlace& place, double smallest, double largest);
/// "fitted", "measured" or "assumed".
[[nodiscard]] std::string coefficient_kind_from_json(const JsonPlace& place);
/// Coefficients of a StackCalibration, each at most once, in the order of the file; and the features that older files
/// hold among them, as numbers.
struct StackNumbers {
  std::vector<NamedCoefficient> coefficients;
  std::vector<NamedFeature> features;
};
[[nodiscard]] StackNumbers stack_numbers_from_json(const JsonPlace& place);

/// What the readers read: the same value gives the same bytes.
[[nodiscard]] Json calibration_json(const DeviceCalibration& device);
[[nodiscard]] Json coefficient_json(const Coefficient& coefficient);
[[nodiscard]] Json coefficients_json(const std::vector<NamedCoefficient>& coefficients);

/// The named coefficients of a calibration in the order of its file, for `explain` and for writing.
[[nodiscard]] std::vector<NamedCoefficient> coefficients(const DeviceCalibration& device);
[[nodiscard]] std::vector<NamedCoefficient> coefficients(const StackCalibration& stack);

}  // namespace plumbline
