// Whatever the bytes: a plan is refused in one line, or accepted; what was accepted is written as a plan that reads
// back to the same text.
#include "core/io/plan_json.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "plan");
  const Plan plan = plan_from_json(JsonPlace(json, "plan:"));
  require(plan.strategy.devices() <= 10'000'000);
  require(plan.strategy.gradient_ranks() >= 1 && plan.strategy.chunks() >= 1);
  return to_json_text(to_json(plan));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size), rewritten);
  return 0;
}
