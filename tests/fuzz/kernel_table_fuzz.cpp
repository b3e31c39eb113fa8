// Whatever the bytes: a table of measured kernels is refused in one line, or written as one that reads back to the same
// text.
#include "core/io/kernel_table_json.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "kernels");
  return to_json_text(to_json(kernel_table_from_json(JsonPlace(json, "kernels:"))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size), rewritten);
  return 0;
}
