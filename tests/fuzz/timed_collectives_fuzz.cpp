// Whatever the bytes: timed collectives are refused with a one-line InputError, or every one of them is sane.
#include <cmath>

#include "core/io/timed_collectives.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    for (const TimedCollective& t : read_timed_collectives(text_of(data, size), "input", std::nullopt)) {
      require(std::isfinite(t.time.value()) && t.time > Seconds(0));
      require(t.bytes > Bytes(0) && t.ranks >= 1 && t.nodes >= 1 && t.ranks % t.nodes == 0);
    }
  });
  return 0;
}
