// Whatever the bytes: a calibration or stack file is refused in one line, or every coefficient lies in its range.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/calibration_json.h"

namespace {

using namespace plumbline;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Read>
void try_reading(std::string_view text, Read read) {
  try {
    const Json json = parse_json(text, "calibration");
    for (const NamedCoefficient& c : coefficients(read(JsonPlace(json, "calibration"))))
      require(std::isfinite(c.coefficient.value) && c.coefficient.relative_sigma >= 0);
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_reading(text, device_calibration_from_json);
  try_reading(text, stack_calibration_from_json);
  return 0;
}
