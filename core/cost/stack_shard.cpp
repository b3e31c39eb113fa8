#include "core/cost/stack_shard.h"

namespace plumbline {

Shard shard_of(const Strategy& s, const Training& training, const StackCalibration& stack) {
  Shard shard = shard_of(s, training);
  shard.kept = stack.features.kept;
  if (stack.features.tensor_parallelism == GatheredDimension::batch) shard.kept.gathered_inputs = GatheredInputs::kept;
  return shard;
}

}  // namespace plumbline
