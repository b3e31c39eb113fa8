#include "core/cost/ruled_variants.h"

#include <algorithm>

#include "core/cost/block_cost.h"

namespace plumbline {
namespace {

/// `layer`: of the network; `in_chunk`: of its pipeline chunk.
std::int32_t layer_variant(Recompute recompute, std::int64_t layer, std::int64_t in_chunk) {
  switch (recompute.mode) {
    case RecomputeMode::selective: return Variant::selective;
    case RecomputeMode::full: return Variant::full;
    case RecomputeMode::every_nth: return layer % recompute.n == 0 ? Variant::full : Variant::kept;
    case RecomputeMode::block: return in_chunk < recompute.n ? Variant::full : Variant::kept;
    case RecomputeMode::uniform:
      return in_chunk % recompute.n == 0 ? Variant::replayed_first : Variant::replayed_middle;
    case RecomputeMode::by_operator: return Variant::by_operator;
    case RecomputeMode::modules: return Variant::modules;
    case RecomputeMode::offloaded: return layer < recompute.n ? Variant::offloaded : Variant::kept;
    case RecomputeMode::none:
    case RecomputeMode::square_root:  // uniform by now
    case RecomputeMode::placed: break;
  }
  return Variant::kept;
}

/// Rows end before the next one, before blocks that are no part of any, and with the chunk; of one layer they are full.
void close_rows(std::vector<std::int32_t>& variants, const Chunk& chunk) {
  const auto goes_on = [&](std::int64_t i) {
    return i < chunk.last && variants[static_cast<std::size_t>(i)] == Variant::replayed_middle;
  };
  for (std::int64_t i = chunk.first; i < chunk.last; ++i) {
    std::int32_t& variant = variants[static_cast<std::size_t>(i)];
    const bool is_part = variant == Variant::replayed_first || variant == Variant::replayed_middle;
    if (!is_part) continue;
    const bool begins = variant == Variant::replayed_first || i == chunk.first ||
                        variants[static_cast<std::size_t>(i - 1)] == Variant::kept;
    if (begins)
      variant = goes_on(i + 1) ? Variant::replayed_first : Variant::full;
    else if (!goes_on(i + 1))
      variant = Variant::replayed_last;
  }
}

/// Frozen layers before the first trained one have none: they keep nothing, so there is nothing to compute again.
bool has_backward(const Block& block) {
  const auto& carries = block.carries_gradient();
  return std::find(carries.begin(), carries.end(), true) != carries.end();
}

}  // namespace

std::vector<std::int32_t> ruled_variants(const Graph& graph, Recompute recompute, const std::vector<Chunk>& chunks) {
  const std::vector<BlockId> sequence = graph.sequence();
  const auto block = [&](std::int64_t i) -> const Block& { return graph.block(sequence[static_cast<std::size_t>(i)]); };
  std::vector<bool> may_recompute;
  for (const Block& of : graph.blocks()) may_recompute.push_back(of.kind() == BlockKind::layer && has_backward(of));
  // The backward of the last layer follows its forward: what it keeps has no time to leave and come back. Megatron-LM
  // too offloads at most all layers but one (cpu_offloading_num_layers).
  if (recompute.mode == RecomputeMode::offloaded)
    recompute.n = std::min(recompute.n, static_cast<std::int32_t>(graph.layer_count()) - 1);
  const auto layers_of = [&](const Chunk& chunk) {
    std::int64_t layers = 0;
    for (std::int64_t i = chunk.first; i < chunk.last; ++i) layers += block(i).kind() == BlockKind::layer ? 1 : 0;
    return layers;
  };
  std::int64_t most_layers = 0;
  if (recompute.mode == RecomputeMode::square_root)
    for (const Chunk& chunk : chunks) most_layers = std::max(most_layers, layers_of(chunk));
  recompute = of_chunks(recompute, most_layers);
  std::vector<std::int32_t> variants(sequence.size(), Variant::kept);
  std::int64_t layer = 0;
  for (const Chunk& chunk : chunks) {
    std::int64_t in_chunk = 0;
    for (std::int64_t i = chunk.first; i < chunk.last; ++i) {
      if (may_recompute[static_cast<std::size_t>(sequence[static_cast<std::size_t>(i)].index())])
        variants[static_cast<std::size_t>(i)] = layer_variant(recompute, layer, in_chunk);
      if (block(i).kind() != BlockKind::layer) continue;
      ++layer;
      ++in_chunk;
    }
    if (joins_layers(recompute)) close_rows(variants, chunk);
  }
  return variants;
}

}  // namespace plumbline
