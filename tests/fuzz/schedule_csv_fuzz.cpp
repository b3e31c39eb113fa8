// Whatever the bytes: a schedule is refused with a one-line InputError, or reads back as it is written.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const plumbline::ComputeSchedule schedule = plumbline::read_schedule_csv(text, "input");
    require(plumbline::read_schedule_csv(plumbline::to_schedule_csv(schedule), "written") == schedule);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
  return 0;
}
