// Whatever the bytes: a plan is refused in one line, or accepted; what was accepted is written as a plan that reads
// back to the same text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/plan_json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string rewritten(std::string_view text) {
  const plumbline::Json json = plumbline::parse_json(text, "plan");
  plumbline::Plan plan = plumbline::plan_from_json(plumbline::JsonPlace(json, "plan:"));
  require(plan.strategy.devices() <= 10'000'000);
  require(plan.strategy.gradient_ranks() >= 1 && plan.strategy.chunks() >= 1);
  return plumbline::to_json_text(plumbline::to_json(plan));
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
