#include "core/cost/placement.h"

#include <algorithm>

namespace plumbline {

std::string_view to_text(Axis axis) {
  switch (axis) {
    case Axis::tensor: return "tensor";
    case Axis::context: return "context";
    case Axis::data: return "data";
    case Axis::gradient: return "gradient";
    case Axis::shard: return "shard";
    case Axis::replicate: return "replicate";
    case Axis::pipeline: return "pipeline";
    case Axis::expert: return "expert";
    case Axis::expert_tensor: return "expert_tensor";
    case Axis::expert_gradient: return "expert_gradient";
  }
  return "";
}

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
  }
  return {};
}

}  // namespace plumbline
