#include "core/cost/stack_shard.h"

namespace plumbline {

Shard shard_of(const Strategy& s, const Training& training, const StackCalibration& stack) {
  Shard shard = shard_of(s, training);
  shard.kept = stack.features.kept;
  return shard;
}

}  // namespace plumbline
