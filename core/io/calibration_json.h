#pragma once
/// \file calibration_json.h: device calibrations ("plumbline.calibration/1") and software stacks ("plumbline.stack/1").
///
/// Every number is {"value", "relative_sigma", "kind": "fitted" | "measured" | "assumed", "source"}.

#include "core/cost/calibration.h"
#include "core/io/json.h"

namespace plumbline {

/// Strict; throw InputError.
[[nodiscard]] DeviceCalibration device_calibration_from_json(const JsonPlace& root);
[[nodiscard]] StackCalibration stack_calibration_from_json(const JsonPlace& root);

/// The named coefficients of a calibration in the order of its file, for `explain` and for writing.
struct NamedCoefficient {
  std::string name;
  Coefficient coefficient;
};
[[nodiscard]] std::vector<NamedCoefficient> coefficients(const DeviceCalibration& device);
[[nodiscard]] std::vector<NamedCoefficient> coefficients(const StackCalibration& stack);

}  // namespace plumbline
