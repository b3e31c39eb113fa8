// YAML of launch files from outside: accepted or refused in one line, and written as it is read.

#include "planner/frameworks/syntax/yaml.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  require_round_trip(text_of(data, size), [](std::string_view text) { return yaml_text(read_yaml(text, "fuzz")); });
  return 0;
}
