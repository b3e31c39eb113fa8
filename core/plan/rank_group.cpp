#include "core/plan/rank_group.h"

#include <algorithm>

namespace plumbline {

RankGroup rank_group(const Strategy& s, Axis axis) {
  const std::int32_t tp = s.tensor_parallel;
  switch (axis) {
    case Axis::tensor: return {tp, 1};
    case Axis::context: return {s.context_parallel, tp};
    case Axis::data: return {s.data_parallel, tp * s.context_parallel};
    case Axis::gradient: return {s.gradient_ranks(), tp};
    case Axis::shard: return {s.shard_group, tp};
    case Axis::replicate: return {s.gradient_ranks() / std::max(1, s.shard_group), tp * s.shard_group};
    case Axis::pipeline: return {s.pipeline_stages, tp * s.gradient_ranks()};
    case Axis::expert: return {s.expert_parallel, s.expert_tensor_parallel};
    case Axis::expert_tensor: return {s.expert_tensor_parallel, 1};
    case Axis::expert_gradient: return {s.expert_gradient_ranks(), s.expert_parallel * s.expert_tensor_parallel};
    case Axis::secondary_shard: return {s.secondary_shard_group, tp};
  }
  return {};
}

bool forms(const Strategy& strategy, Axis axis) {
  return axis != Axis::secondary_shard || rank_group(strategy, axis).size > 1;
}

std::int32_t coordinate(const Strategy& strategy, Axis axis, std::int32_t rank) {
  const RankGroup group = rank_group(strategy, axis);
  return rank / group.stride % group.size;
}

}  // namespace plumbline
