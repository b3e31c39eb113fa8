#include "planner/checkpointing/split_placer.h"

#include <algorithm>

#include "core/cost/ruled_variants.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {

SplitPlacer::SplitPlacer(const RecomputePlacer& placer, const std::vector<Chunk>& chunks)
    : placer_(placer),
      chunks_(chunks),
      unplaced_(stage_layout(placer.question().graph(), placer.strategy(), chunks,
                             ruled_variants(placer.question().graph(), {}, chunks),
                             placer.question().stage_sites(placer.strategy()))),
      kept_(placer.question().graph(), unplaced_, placer.blocks()),
      sequence_(placer.question().graph().sequence()) {
  for (std::int32_t rank = 0; rank < placer.strategy().pipeline_stages; ++rank)
    ranks_.push_back({placer.chunks_of(unplaced_, rank), {}, {}});
}

Placement SplitPlacer::place() {
  Placement result{std::vector<std::int32_t>(sequence_.size(), Variant::kept), true};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    add(placer_.place(ranks_[r].chunks, kept_[r], rank), rank, result);
  }
  return result;
}

Placement SplitPlacer::place_within(const std::vector<Bytes>& capacities) {
  Placement result{std::vector<std::int32_t>(sequence_.size(), Variant::kept), true};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    const auto [known, is_new] = ranks_[r].placed.try_emplace(capacities[r]);
    if (is_new) known->second = placer_.place_within(capacities[r], ranks_[r].chunks, kept_[r], rank);
    add(known->second, rank, result);
  }
  return result;
}

void SplitPlacer::add(const std::optional<RankPlacement>& placed, std::int32_t rank, Placement& result) {
  const Strategy& s = placer_.strategy();
  Rank& known = ranks_[static_cast<std::size_t>(rank)];
  result.fits = result.fits && placed.has_value();
  if (!placed && !known.smallest) known.smallest = placer_.smallest(known.chunks, rank);
  const RankPlacement& taken = placed ? *placed : *known.smallest;
  for (std::int32_t c = 0; c < s.virtual_stages; ++c) {
    const auto stage = static_cast<std::size_t>(stage_of(placement(s.schedule), s.pipeline_stages, rank, c));
    assign(taken.chunks[static_cast<std::size_t>(c)], chunks_[stage], result.variants);
  }
}

void SplitPlacer::assign(const std::vector<VariantCount>& counts, Chunk chunk,
                         std::vector<std::int32_t>& variants) const {
  std::vector<VariantCount> left = counts;
  const auto time = [&](const VariantCount& c) {
    return placer_.blocks()[static_cast<std::size_t>(c.block)].times(c.variant).recompute.total();
  };
  std::stable_sort(left.begin(), left.end(),
                   [&](const VariantCount& a, const VariantCount& b) { return time(a) > time(b); });
  for (std::int64_t i = chunk.first; i < chunk.last; ++i) {
    const auto execution = static_cast<std::size_t>(i);
    const auto block = static_cast<std::int32_t>(
        unplaced_.arrangement.cost_index(sequence_[execution], execution, placer_.question().graph().blocks().size()));
    const auto next =
        std::find_if(left.begin(), left.end(), [&](const VariantCount& c) { return c.block == block && c.count > 0; });
    variants[static_cast<std::size_t>(i)] = next->variant;
    --next->count;
  }
}

}  // namespace plumbline
