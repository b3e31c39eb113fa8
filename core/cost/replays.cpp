#include "core/cost/replays.h"

namespace plumbline {

std::vector<Replay> replays_of(const Graph& graph, const std::vector<BlockCost>& blocks,
                               const std::vector<std::int32_t>& variants, RecomputeMode mode) {
  std::vector<Replay> replays;
  const std::vector<BlockId> sequence = graph.sequence();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const BlockVariant& variant = blocks[static_cast<std::size_t>(sequence[i].index())].variant(variants[i]);
    const bool is_selective = mode == RecomputeMode::selective && variants[i] == Variant::selective;
    replays.push_back({variant.replayed, is_selective ? RecomputeMode::selective : RecomputeMode::full, variant.kept});
  }
  return replays;
}

}  // namespace plumbline
