#include "planner/search/site_splits.h"

#include <algorithm>
#include <numeric>

#include "core/plan/pipeline_schedule.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "planner/search/level_split.h"

namespace plumbline {
namespace {

using Layers = ChunkLayers;

bool is_on_several_sites(const StageSites& sites) {
  return std::any_of(sites.of_rank.begin(), sites.of_rank.end(),
                     [&](std::int32_t site) { return site != sites.of_rank.front(); });
}

/// What a micro-batch takes of each layer on each chunk, and of what lies beside the layers of the first and last one.
class ChunkTable {
 public:
  ChunkTable(const Question& question, const Strategy& s, const std::vector<BlockCost>& blocks)
      : sites_(question.stage_sites(s)), strategy_(s), chunks_(s.chunks()) {
    const Graph& graph = question.graph();
    const std::size_t count = graph.blocks().size();
    before_.assign(static_cast<std::size_t>(sites_.count), Picoseconds(0));
    after_ = before_;
    of_site_.resize(before_.size());
    for (std::int32_t site = 0; site < sites_.count; ++site) {
      const auto at = static_cast<std::size_t>(site);
      for (const BlockId id : graph.sequence()) {
        const BlockCost& block = blocks[at * count + static_cast<std::size_t>(id.index())];
        const Picoseconds time = block.forward.total() + block.backward.total();
        const BlockKind kind = graph.block(id).kind();
        if (kind == BlockKind::layer)
          of_site_[at].push_back(time);
        else
          (kind == BlockKind::input ? before_ : after_)[at] += time;
      }
    }
  }

  /// The split whose slowest chunk is fastest.
  [[nodiscard]] Layers fastest() const {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t site = 0; site < of_site_.size(); ++site)
      high = std::max(
          high, std::accumulate(of_site_[site].begin(), of_site_[site].end(), before_[site] + after_[site]).value());
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (filled(Picoseconds(middle)))
        high = middle;
      else
        low = middle + 1;
    }
    return *filled(Picoseconds(high));
  }

 private:
  [[nodiscard]] std::size_t site(std::int32_t chunk) const {
    const std::int32_t rank = rank_of_stage(placement(strategy_.schedule), strategy_.pipeline_stages, chunk);
    return static_cast<std::size_t>(sites_.site(static_cast<std::size_t>(rank)));
  }
  /// As many layers on each chunk in turn as take at most `most`, one at least; nothing where some are left over.
  [[nodiscard]] std::optional<Layers> filled(Picoseconds most) const {
    const auto layers = static_cast<std::int32_t>(of_site_.front().size());
    Layers split;
    std::int32_t next = 0;
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::size_t at = site(chunk);
      const bool is_last = chunk + 1 == chunks_;
      Picoseconds time = (chunk == 0 ? before_[at] : Picoseconds(0)) + (is_last ? after_[at] : Picoseconds(0));
      const std::int32_t first = next;
      const std::int32_t furthest = layers - (chunks_ - 1 - chunk);
      while (next < furthest && time + of_site_[at][static_cast<std::size_t>(next)] <= most)
        time += of_site_[at][static_cast<std::size_t>(next++)];
      if (next == first) return std::nullopt;
      split.push_back(next - first);
    }
    return next == layers ? std::optional(split) : std::nullopt;
  }

  StageSites sites_;
  Strategy strategy_;
  std::int32_t chunks_;
  std::vector<Picoseconds> before_;
  std::vector<Picoseconds> after_;
  std::vector<std::vector<Picoseconds>> of_site_;
};

/// Half of the way from one split to the other, by the chunks' ends.
Layers halfway(const Layers& a, const Layers& b) {
  Layers between;
  std::int32_t end_a = 0;
  std::int32_t end_b = 0;
  std::int32_t before = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    end_a += a[c];
    end_b += b[c];
    const std::int32_t end = (end_a + end_b) / 2;
    between.push_back(end - before);
    before = end;
  }
  return between;
}

bool holds_layers_everywhere(const Layers& layers) {
  return std::all_of(layers.begin(), layers.end(), [](std::int32_t count) { return count > 0; });
}

/// Looks for shorter steps one layer at a time.
class LayerMover {
 public:
  LayerMover(const RankedStrategy& plan, const Question& question, KnownPrograms* known)
      : question_(question), best_(plan), blocks_(block_costs(question, plan.strategy, known)), groups_(blocks_) {
    if (best_.strategy.layers_per_stage.empty())
      best_.strategy.layers_per_stage = even_layers(question.graph(), best_.strategy.chunks());
  }

  std::optional<RankedStrategy> moved() {
    if (!holds_layers_everywhere(best_.strategy.layers_per_stage)) return std::nullopt;
    bool has_moved = false;
    while (move_one()) has_moved = true;
    return has_moved ? std::optional(best_) : std::nullopt;
  }

 private:
  bool move_one() {
    const RankedStrategy before = best_;
    const std::size_t chunks = before.strategy.layers_per_stage.size();
    for (std::size_t from = 0; from < chunks; ++from)
      for (std::size_t to = 0; to < chunks; ++to) {
        if (from == to || before.strategy.layers_per_stage[from] == 1) continue;
        RankedStrategy next = before;
        --next.strategy.layers_per_stage[from];
        ++next.strategy.layers_per_stage[to];
        consider(std::move(next));
      }
    return best_.step_time < before.step_time;
  }
  void consider(RankedStrategy next) {
    const StageLayout layout = layout_of(question_, next.strategy, groups_);
    const StageTable stages(question_.graph(), layout, blocks_);
    if (question_.step_pricer().lower_bound(stages, next.strategy) >= best_.step_time) return;
    next.step_time = question_.step_pricer().price(stages, next.strategy).total();
    if (next.step_time >= best_.step_time) return;
    next.peak_memory = peak_memory(question_, stages, next.strategy);
    if (next.peak_memory <= question_.capacity() && fits_host(question_, stages, next.strategy))
      best_ = std::move(next);
  }

  const Question& question_;
  RankedStrategy best_;
  std::vector<BlockCost> blocks_;
  RankLayersTable groups_;
};

}  // namespace

std::vector<std::vector<std::int32_t>> site_splits(const Question& question, const Strategy& s,
                                                   const std::vector<BlockCost>& blocks) {
  if (s.chunks() < 2 || s.chunks() > question.facts().layers || !is_on_several_sites(question.stage_sites(s)))
    return {};
  const Layers even = even_layers(question.graph(), s.chunks());
  const Layers fastest = ChunkTable(question, s, blocks).fastest();
  std::vector<Layers> splits;
  for (const Layers& split : {fastest, halfway(even, fastest)})
    if (split != even && holds_layers_everywhere(split) &&
        std::find(splits.begin(), splits.end(), split) == splits.end())
      splits.push_back(split);
  return splits;
}

std::optional<RankedStrategy> with_moved_layers(const RankedStrategy& plan, const Question& question,
                                                KnownPrograms* known) {
  const Strategy& s = plan.strategy;
  const bool is_movable = s.split == StageSplit::even && s.recompute.mode != RecomputeMode::placed;
  if (!is_movable || s.chunks() > question.facts().layers || !is_on_several_sites(question.stage_sites(s)))
    return std::nullopt;
  return LayerMover(plan, question, known).moved();
}

}  // namespace plumbline
