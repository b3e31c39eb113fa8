#include "models/calibration_catalog.h"

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/calibration_json.h"
#include "models/embedded.h"

namespace plumbline {
namespace {

constexpr std::string_view stack_prefix = "stack-";
constexpr std::string_view device_prefix = "device-";
constexpr std::string_view generic_device = "*";

DeviceCalibration read_device(const embedded::EmbeddedFile& file) {
  const std::string where = "calibrations/" + std::string(file.name) + ".json";
  const Json json = parse_json(file.text, where);
  return device_calibration_from_json(JsonPlace(json, where));
}

std::vector<DeviceCalibration> all_devices() {
  std::vector<DeviceCalibration> result;
  for (const embedded::EmbeddedFile& file : embedded::calibrations())
    if (file.name.starts_with(device_prefix)) result.push_back(read_device(file));
  return result;
}

bool is_made_for(const DeviceCalibration& calibration, std::string_view device) {
  return std::find(calibration.devices.begin(), calibration.devices.end(), device) != calibration.devices.end();
}

}  // namespace

std::vector<std::string> stack_names() {
  std::vector<std::string> names;
  for (const embedded::EmbeddedFile& file : embedded::calibrations())
    if (file.name.starts_with(stack_prefix)) names.emplace_back(file.name.substr(stack_prefix.size()));
  std::sort(names.begin(), names.end());
  return names;
}

StackCalibration find_stack(std::string_view name_or_path) {
  for (const embedded::EmbeddedFile& file : embedded::calibrations()) {
    if (file.name != std::string(stack_prefix) + std::string(name_or_path)) continue;
    const std::string where = "calibrations/" + std::string(file.name) + ".json";
    const Json json = parse_json(file.text, where);
    return stack_calibration_from_json(JsonPlace(json, where));
  }
  if (std::error_code ignored; std::filesystem::exists(std::filesystem::path(name_or_path), ignored)) {
    const Json json = read_json_file(name_or_path);
    return stack_calibration_from_json(JsonPlace(json, std::string(name_or_path)));
  }
  throw InputError({"stack", "\"" + std::string(name_or_path.substr(0, 60)) + "\" is unknown",
                    "the name of a software stack or a file", nearest_text(name_or_path, stack_names())});
}

DeviceCalibration calibration_of(const Device& device) {
  const std::vector<DeviceCalibration> devices = all_devices();
  const std::string kind = device.architecture == DeviceArchitecture::cpu ? "cpu" : std::string(generic_device);
  for (const std::string& name : {device.name, kind})
    for (const DeviceCalibration& calibration : devices)
      if (is_made_for(calibration, name)) return calibration;
  throw InternalError("the catalogue holds a generic calibration");
}

}  // namespace plumbline
