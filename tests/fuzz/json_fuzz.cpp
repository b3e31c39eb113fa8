// Whatever the bytes: the reader refuses with a one-line InputError or accepts; and what it accepted is written as
// text that reads back and is written the same.
#include "core/io/json.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size),
                     [](std::string_view text) { return to_json_text(parse_json(text, "input")); });
  return 0;
}
