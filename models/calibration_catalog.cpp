#include "models/calibration_catalog.h"

namespace plumbline {

std::vector<std::string> stack_names() { return CalibrationSet::shipped().stack_names(); }

StackCalibration find_stack(std::string_view name_or_path) { return CalibrationSet::shipped().stack(name_or_path); }

DeviceCalibration calibration_of(const Device& device) { return CalibrationSet::shipped().device(device); }

}  // namespace plumbline
