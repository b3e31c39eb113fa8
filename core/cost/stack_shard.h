#pragma once
/// \file stack_shard.h: what one rank holds of a tensor under a strategy, as a software stack keeps it.
///
/// Model: shard.h, with the stack's choices of what products and experts keep. Source: core/cost/calibration.h (the
/// stack's features). Not modelled: choices per layer. Checked against: tests/reference/fp8_activations_test.cpp.

#include "core/cost/calibration.h"
#include "core/sharding/shard.h"

namespace plumbline {

[[nodiscard]] Shard shard_of(const Strategy& strategy, const Training& training, const StackCalibration& stack);

}  // namespace plumbline
