#include "core/cost/stack_shard.h"

namespace plumbline {

Shard shard_of(const Strategy& s, const Training& training, const StackCalibration& stack) {
  Shard shard = shard_of(s, training);
  if (stack.fp8_inputs > 0)
    shard.kept.product_inputs = stack.fp8_inputs > 1 ? ProductInputs::shared : ProductInputs::as_multiplied;
  if (stack.weighted_activations > 0) shard.kept.expert_weighting = ExpertWeighting::of_activations;
  return shard;
}

}  // namespace plumbline
