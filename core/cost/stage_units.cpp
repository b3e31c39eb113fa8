#include "core/cost/stage_units.h"

#include <algorithm>

namespace plumbline {

void add_unit(std::vector<UnitContent>& units, const UnitContent& more) {
  const auto same =
      std::find_if(units.begin(), units.end(), [&](const UnitContent& unit) { return unit.blocks == more.blocks; });
  if (same == units.end())
    units.push_back(more);
  else
    same->count += more.count;
}

std::vector<UnitContent> unit_contents(const Graph& graph, Chunk chunk, std::int32_t layers, std::int32_t site) {
  std::vector<UnitContent> units;
  if (layers == 1) return units;
  const std::vector<BlockId> sequence = graph.sequence();
  const std::int32_t first = site * static_cast<std::int32_t>(graph.blocks().size());
  for (const Chunk& executions : sharding_units(graph, chunk, layers)) {
    UnitContent unit;
    for (std::int64_t i = executions.first; i < executions.last; ++i)
      unit.blocks.push_back(first + sequence[static_cast<std::size_t>(i)].index());
    std::sort(unit.blocks.begin(), unit.blocks.end());
    add_unit(units, unit);
  }
  return units;
}

void join_units(StageSizes& sizes, const RankContent& content, const ParametersOfBlock& parameters_of) {
  if (content.units.empty()) return;
  RankParameters joined;
  sizes.units = 0;
  for (const UnitContent& unit : content.units) {
    RankParameters parameters;
    for (const std::int32_t block : unit.blocks) parameters += parameters_of(block);
    joined.add(one_unit(std::move(parameters)), unit.count);
    sizes.units += unit.count;
  }
  sizes.parameters.units = std::move(joined.units);
  sizes.parameters.largest_matrix_unit = joined.largest_matrix_unit;
  sizes.parameters.largest_expert_unit = joined.largest_expert_unit;
}

}  // namespace plumbline
