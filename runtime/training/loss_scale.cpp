#include "runtime/training/loss_scale.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/errors.h"

namespace plumbline {
namespace {

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
}

void check_rule(const LossScaleRule& rule) {
  for (const double value : {rule.smallest, rule.initial, rule.largest})
    if (!is_power_of_two(value)) throw InputError({"loss scale", "is " + std::to_string(value), "a power of two", ""});
  if (rule.smallest > rule.initial || rule.initial > rule.largest)
    throw InputError({"loss scale", "starts at " + std::to_string(rule.initial),
                      "from " + std::to_string(rule.smallest) + " to " + std::to_string(rule.largest), ""});
  if (rule.growth_interval < 1)
    throw InputError(
        {"loss scale", "doubles after " + std::to_string(rule.growth_interval) + " good steps", "1 or more", ""});
}

}  // namespace

DynamicLossScale::DynamicLossScale(const LossScaleRule& rule) : DynamicLossScale(rule, {rule.initial, 0, 0}) {}

DynamicLossScale::DynamicLossScale(const LossScaleRule& rule, const LossScaleState& resumed)
    : rule_(rule), state_(resumed) {
  check_rule(rule);
  if (!is_power_of_two(resumed.scale) || resumed.good_steps < 0 || resumed.skipped_steps < 0)
    throw InputError({"loss scale", "cannot resume at " + std::to_string(resumed.scale), "a power of two", ""});
}

bool DynamicLossScale::update(GradientHealth health) {
  if (health == GradientHealth::overflow) {
    state_.scale = std::max(state_.scale / 2, rule_.smallest);
    state_.good_steps = 0;
    ++state_.skipped_steps;
    return false;
  }
  if (++state_.good_steps == rule_.growth_interval) {
    state_.scale = std::min(state_.scale * 2, rule_.largest);
    state_.good_steps = 0;
  }
  return true;
}

}  // namespace plumbline
