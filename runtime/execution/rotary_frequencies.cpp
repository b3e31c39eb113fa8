#include "runtime/execution/rotary_frequencies.h"

#include <algorithm>
#include <numbers>

#include "kernels/rotary.h"

namespace plumbline {

std::vector<float> rotary_frequencies(const RotaryConstants& constants, std::int64_t features) {
  std::vector<float> frequencies(static_cast<std::size_t>(features / 2));
  rotary_frequencies(constants.base, features, frequencies.data());
  if (constants.scaling == RotaryScaling::none) return frequencies;
  const double low = constants.low_frequency_turns;
  const double high = constants.high_frequency_turns;
  for (float& frequency : frequencies) {
    const auto plain = static_cast<double>(frequency);
    const double turns = constants.original_positions * plain / (2.0 * std::numbers::pi);
    const double kept =
        constants.scaling == RotaryScaling::linear ? 0.0 : std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = static_cast<float>(kept * plain + (1.0 - kept) * plain / constants.factor);
  }
  return frequencies;
}

}  // namespace plumbline
