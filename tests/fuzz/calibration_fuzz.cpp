// Whatever the bytes: a calibration, axis values or stack file is refused in one line, or every coefficient lies in its
// range and what was read is written back the same.
#include <cmath>

#include "core/io/calibration_json.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

void require_sane(const std::vector<NamedCoefficient>& all) {
  for (const NamedCoefficient& c : all)
    require(std::isfinite(c.coefficient.value) && c.coefficient.relative_sigma >= 0);
}

/// `read` gives the value, `write` its JSON.
template <class Read, class Write>
void try_reading(std::string_view text, Read read, Write write) {
  require_round_trip(text, [&](std::string_view one) {
    const Json json = parse_json(one, "calibration");
    return to_json_text(write(read(JsonPlace(json, "calibration"))));
  });
}

DeviceCalibration device_from(const JsonPlace& place) {
  DeviceCalibration device = device_calibration_from_json(place);
  require_sane(coefficients(device));
  return device;
}

/// A stack that was accepted can be composed.
SoftwareStack stack_from(const JsonPlace& place) {
  CalibrationSet set = CalibrationSet::shipped();
  SoftwareStack stack = software_stack_from_json(place, set.axis_table(), set.stack_names());
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
  const std::string_view text = text_of(data, size);
  try_reading(text, device_from, calibration_json);
  try_reading(text, stack_axes_from_json, stack_axes_json);
  try_reading(text, stack_from, software_stack_json);
  return 0;
}
