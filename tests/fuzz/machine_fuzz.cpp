// Whatever the bytes: a machine file is refused in one line, or accepted and written as text that reads back the same.
#include "core/io/machine_json.h"
#include "models/machine_catalog.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "machine");
  return to_json_text(machine_json(read_machine(json, "machine", machine_parts())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size), rewritten);
  return 0;
}
