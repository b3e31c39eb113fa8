#include "runtime/training/loss_scale.h"

#include <cmath>
#include <string>

#include "core/base/errors.h"

namespace plumbline {
namespace {

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
}

}  // namespace

void require_valid(const LossScaleRule& rule) {
  for (const double value : {rule.smallest, rule.initial, rule.largest})
    if (!is_power_of_two(value)) throw InputError({"loss scale", "is " + std::to_string(value), "a power of two", ""});
  if (rule.smallest > rule.initial || rule.initial > rule.largest)
    throw InputError({"loss scale", "starts at " + std::to_string(rule.initial),
                      "from " + std::to_string(rule.smallest) + " to " + std::to_string(rule.largest), ""});
  if (rule.growth_interval < 1)
    throw InputError(
        {"loss scale", "doubles after " + std::to_string(rule.growth_interval) + " good steps", "1 or more", ""});
}

void require_valid(const LossScaleState& resumed) {
  if (!is_power_of_two(resumed.scale) || resumed.good_steps < 0 || resumed.skipped_steps < 0)
    throw InputError({"loss scale", "cannot resume at " + std::to_string(resumed.scale), "a power of two", ""});
}

}  // namespace plumbline
