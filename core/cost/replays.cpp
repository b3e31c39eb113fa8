#include "core/cost/replays.h"

namespace plumbline {

std::vector<Replay> replays_of(const Graph& graph, const std::vector<BlockCost>& blocks, const Arrangement& arrangement,
                               RecomputeMode mode) {
  std::vector<Replay> replays;
  const std::vector<BlockId> sequence = graph.sequence();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::int32_t chosen = arrangement.variants[i];
    const std::size_t cost = arrangement.cost_index(sequence[i], i, graph.blocks().size());
    const VariantSizes& variant = blocks[cost].variant(chosen);
    const bool is_selective = mode == RecomputeMode::selective && chosen == Variant::selective;
    replays.push_back(
        {variant.replayed, is_selective ? RecomputeMode::selective : RecomputeMode::full, variant.kept, variant.place});
  }
  return replays;
}

}  // namespace plumbline
