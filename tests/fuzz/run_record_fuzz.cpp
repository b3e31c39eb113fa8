// Whatever the bytes: a record of a run is refused in one line, or what was accepted is written as a record that reads
// back to the same text, and can be drawn.
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/simulate/run_trace.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "record");
  const RunRecord record = run_record_from_json(JsonPlace(json, "record:"));
  require(!trace_json_text(trace(record)).empty());
  require(tokens_per_second(record) >= 0);
  return to_json_text(to_json(record));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size), rewritten);
  return 0;
}
