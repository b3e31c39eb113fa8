#include "planner/search/complexity.h"

#include <algorithm>
#include <bit>

namespace plumbline {

std::vector<std::string> unusual_choices(const Plan& plan) {
  const Strategy& s = plan.strategy;
  std::vector<std::string> choices;
  const std::int64_t slice = plan.training.sequence_length / s.context_parallel;
  if (s.context_parallel > 1 && slice < least_published_slice)
    choices.push_back("context parallelism of " + std::to_string(slice) + " tokens a rank");
  if (complexity(s, Bytes(0)).has_empty_chunk) choices.emplace_back("a pipeline chunk without a layer");
  const auto& known = published_virtual_stages;
  if (s.schedule == Schedule::interleaved && std::find(known.begin(), known.end(), s.virtual_stages) == known.end())
    choices.push_back(std::to_string(s.virtual_stages) + " virtual stages");
  return choices;
}

Complexity complexity(const Strategy& s, Bytes peak) {
  const auto is_split = [](std::int32_t degree) { return degree > 1 ? 1 : 0; };
  Complexity result;
  result.dimensions = is_split(s.tensor_parallel) + is_split(s.context_parallel) + is_split(s.pipeline_stages) +
                      is_split(s.expert_parallel);
  result.has_empty_chunk =
      std::find(s.layers_per_stage.begin(), s.layers_per_stage.end(), 0) != s.layers_per_stage.end();
  for (const std::int32_t degree :
       {s.tensor_parallel, s.context_parallel, s.pipeline_stages, s.expert_parallel, s.data_parallel})
    result.odd_degrees += std::has_single_bit(static_cast<std::uint32_t>(degree)) ? 0 : 1;
  result.rarity = record_of(s.schedule).rarity;
  result.virtual_stages = s.virtual_stages;
  result.lists_layers = !s.layers_per_stage.empty();
  result.recompute = s.recompute.mode;
  result.zero_stage = std::max(s.zero_stage, 1);
  result.peak = peak;
  return result;
}

}  // namespace plumbline
