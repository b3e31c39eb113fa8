#include "planner/search/objective.h"

#include <limits>

#include "core/base/found_by_name.h"

namespace plumbline {

std::string_view to_text(Objective objective) {
  switch (objective) {
    case Objective::step_time: return "time";
    case Objective::tokens_per_dollar: return "tokens-per-dollar";
    case Objective::fewest_gpus: return "gpus";
    case Objective::least_memory: return "memory";
  }
  return "";
}

std::optional<Objective> objective_from_text(std::string_view text) { return value_named(all_objectives, text); }

namespace {

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace

Score score(Objective objective, MemoryFit fit, Picoseconds step, std::int64_t devices, Bytes peak) {
  const auto risk = static_cast<std::int64_t>(fit);
  switch (objective) {
    case Objective::step_time: return {risk, step.value(), peak.value(), 0};
    case Objective::tokens_per_dollar:
      return {risk, saturated_product(step.value(), devices), step.value(), peak.value()};
    case Objective::fewest_gpus: return {risk, devices, step.value(), peak.value()};
    case Objective::least_memory: return {risk, peak.value(), step.value(), 0};
  }
  return {};
}

}  // namespace plumbline
