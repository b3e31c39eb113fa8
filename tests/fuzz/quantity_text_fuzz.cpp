// Whatever the text: a quantity is refused in one line, or is finite, not negative, and printed as one that reads back.
#include <cmath>

#include "core/quantity/text.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

bool is_sane(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_accepted_or_refused([&] {
    const Bytes bytes = parse_bytes(text, "bytes");
    require(bytes >= Bytes(0));
    require(parse_bytes(std::to_string(bytes.value()) + " B", "written") == bytes);
    require(!to_text(bytes).empty());
  });
  require_accepted_or_refused([&] { require(is_sane(parse_bandwidth(text, "bandwidth").value())); });
  require_accepted_or_refused([&] { require(is_sane(parse_flop_rate(text, "rate").value())); });
  require_accepted_or_refused([&] { require(is_sane(parse_duration(text, "duration").value())); });
  require_accepted_or_refused([&] { require(is_sane(parse_power(text, "power").value())); });
  require_accepted_or_refused([&] {
    const std::int64_t count = parse_count(text, "count");
    require(count > 0 && parse_count(std::to_string(count), "written") == count);
    require(!grouped(count).empty() && !count_text(count).empty());
  });
  return 0;
}
