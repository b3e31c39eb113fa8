#pragma once
/// \file rotary_features.h: how many of a head's features turn with the position.

#include "core/graph/operator_constants.h"

namespace plumbline {

/// Rounded down, as Hugging Face does.
[[nodiscard]] inline std::int64_t rotary_features(const RotaryConstants& constants, std::int64_t head_dim) {
  return static_cast<std::int64_t>(static_cast<double>(head_dim) * constants.rotated);
}

}  // namespace plumbline
