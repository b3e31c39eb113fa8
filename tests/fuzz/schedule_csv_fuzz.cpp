// Whatever the bytes: a schedule is refused with a one-line InputError, or reads back as it is written.
#include "core/io/schedule_csv.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    const ComputeSchedule schedule = read_schedule_csv(text_of(data, size), "input");
    require(read_schedule_csv(to_schedule_csv(schedule), "written") == schedule);
  });
  return 0;
}
