// Whatever the bytes: a calibration, traits or stack file is refused in one line, or every coefficient lies in its
// range and what was read is written back the same.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/calibration_json.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"

namespace {

using namespace plumbline;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_sane(const std::vector<NamedCoefficient>& all) {
  for (const NamedCoefficient& c : all)
    require(std::isfinite(c.coefficient.value) && c.coefficient.relative_sigma >= 0);
}

/// `read` gives the value, `write` its JSON: reading what was written writes the same.
template <class Read, class Write>
void try_reading(std::string_view text, Read read, Write write) {
  try {
    const Json json = parse_json(text, "calibration");
    const std::string written = to_json_text(write(read(JsonPlace(json, "calibration"))));
    const Json again = parse_json(written, "written");
    require(to_json_text(write(read(JsonPlace(again, "written")))) == written);
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
}

DeviceCalibration device_from(const JsonPlace& place) {
  DeviceCalibration device = device_calibration_from_json(place);
  require_sane(coefficients(device));
  return device;
}

/// A stack that was accepted can be composed.
SoftwareStack stack_from(const JsonPlace& place) {
  CalibrationSet set = CalibrationSet::shipped();
  SoftwareStack stack = software_stack_from_json(place, set.traits(), set.stack_names());
  try {
    set.add(stack);
  } catch (const InputError&) {
    return stack;  // takes a name in a circle
  }
  require_sane(coefficients(set.stack(stack.name)));
  return stack;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_reading(text, device_from, calibration_json);
  try_reading(text, trait_table_from_json, trait_table_json);
  try_reading(text, stack_from, software_stack_json);
  return 0;
}
