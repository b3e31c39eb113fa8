// Whatever the text: TOML is refused or gives a tree that is written and read back as it was, and torchtitan's
// configuration is refused or understood.
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/syntax/toml.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_accepted_or_refused([&] {
    const Json tree = read_toml(text, "fuzz.toml");
    require(to_json_text(read_toml(toml_text(tree), "again.toml")) == to_json_text(tree));
  });
  require_accepted_or_refused([&] {
    Imported imported = torchtitan_target().read(text, "fuzz.toml");
    derive_missing(imported.settings);
  });
  return 0;
}
