// Whatever the bytes: a record of a run is refused in one line, or what was accepted is written as a record that reads
// back to the same text, and can be drawn.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/simulate/run_trace.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string rewritten(std::string_view text) {
  const plumbline::Json json = plumbline::parse_json(text, "record");
  const plumbline::RunRecord record = plumbline::run_record_from_json(plumbline::JsonPlace(json, "record:"));
  require(!plumbline::trace_json_text(plumbline::trace(record)).empty());
  require(plumbline::tokens_per_second(record) >= 0);
  return plumbline::to_json_text(plumbline::to_json(record));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = rewritten(text);
    require(rewritten(once) == once);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
  return 0;
}
