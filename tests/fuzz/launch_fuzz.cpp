// Whatever the bytes: a command line and every target's launch files are refused in one line, or read into settings
// that a strategy follows from.
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/syntax/arguments.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_accepted_or_refused([&] { require(read_arguments(text, "x").if_object() != nullptr); });
  for (const LaunchTarget& target : launch_targets())
    if (target.read != nullptr)
      for (const char* const name : {"launch.sh", "config.json", "config.toml", "config.yaml", "recipe.py"})
        require_accepted_or_refused([&] {
          LaunchSettings settings = target.read(text, name).settings;
          derive_missing(settings);
          require(strategy_of(settings).tensor_parallel >= 1);
        });
  return 0;
}
