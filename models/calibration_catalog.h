#pragma once
/// \file calibration_catalog.h: the device calibrations and software stacks that ship with this program, in short:
/// CalibrationSet::shipped() behind three functions.

#include <string>
#include <string_view>
#include <vector>

#include "models/calibration_set.h"

namespace plumbline {

/// Of machines without GPUs: this program's runtime.
inline constexpr std::string_view own_stack = "plumbline";

/// Sorted, without aliases.
[[nodiscard]] std::vector<std::string> stack_names();
/// Composed; a catalogue name, an alias or the path of a plumbline.stack/1 file. Throws InputError with the nearest
/// names.
[[nodiscard]] StackCalibration find_stack(std::string_view name_or_path);
/// The calibration made for a device, else the one of its architecture's kind, else the generic one (whose numbers are
/// all assumed). Never fails.
[[nodiscard]] DeviceCalibration calibration_of(const Device& device);

}  // namespace plumbline
