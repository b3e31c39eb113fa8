#include "planner/search/complexity.h"

#include <algorithm>

namespace plumbline {

Complexity complexity(const Strategy& s, Bytes peak) {
  const auto is_split = [](std::int32_t degree) { return degree > 1 ? 1 : 0; };
  Complexity result;
  result.dimensions = is_split(s.tensor_parallel) + is_split(s.context_parallel) + is_split(s.pipeline_stages) +
                      is_split(s.expert_parallel);
  result.has_empty_chunk =
      std::find(s.layers_per_stage.begin(), s.layers_per_stage.end(), 0) != s.layers_per_stage.end();
  result.rarity = record_of(s.schedule).rarity;
  result.virtual_stages = s.virtual_stages;
  result.lists_layers = !s.layers_per_stage.empty();
  result.recompute = s.recompute.mode;
  result.zero_stage = std::max(s.zero_stage, 1);
  result.peak = peak;
  return result;
}

}  // namespace plumbline
