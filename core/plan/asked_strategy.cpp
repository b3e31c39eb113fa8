#include "core/plan/asked_strategy.h"

#include <algorithm>
#include <vector>

#include "core/plan/stage_split.h"

namespace plumbline::axes {

std::string number(std::int64_t value) { return std::to_string(value); }

std::string not_divisible(std::string_view what, std::int64_t amount, std::string_view degree, std::int64_t ranks) {
  return number(amount) + " " + std::string(what) + " do not divide over " + std::string(degree) + " " + number(ranks);
}

std::int64_t most_layers_of_chunk(const AskedStrategy& a) {
  if (!a.s.layers_per_stage.empty()) return *std::max_element(a.s.layers_per_stage.begin(), a.s.layers_per_stage.end());
  if (a.s.split == StageSplit::balanced || a.s.chunks() < 1) return a.facts.layers;
  const std::vector<std::int64_t> layers =
      layers_per_chunk(a.facts.layers, a.s.chunks(), a.facts.starts_with_input, a.facts.ends_with_output);
  return *std::max_element(layers.begin(), layers.end());
}

}  // namespace plumbline::axes
