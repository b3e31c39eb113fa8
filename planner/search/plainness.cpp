#include "planner/search/plainness.h"

#include <algorithm>

namespace plumbline {

Plainness plainness(const Strategy& s, Bytes peak) {
  const auto is_split = [](std::int32_t degree) { return degree > 1 ? 1 : 0; };
  Plainness plain;
  plain.dimensions = is_split(s.tensor_parallel) + is_split(s.context_parallel) + is_split(s.pipeline_stages) +
                     is_split(s.expert_parallel);
  plain.has_empty_chunk =
      std::find(s.layers_per_stage.begin(), s.layers_per_stage.end(), 0) != s.layers_per_stage.end();
  plain.rarity = record_of(s.schedule).rarity;
  plain.virtual_stages = s.virtual_stages;
  plain.lists_layers = !s.layers_per_stage.empty();
  plain.recompute = s.recompute.mode;
  plain.zero_stage = std::max(s.zero_stage, 1);
  plain.peak = peak;
  return plain;
}

}  // namespace plumbline
