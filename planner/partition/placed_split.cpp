#include "planner/partition/placed_split.h"

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "core/cost/pipeline_time.h"

namespace plumbline {
namespace {

/// Every range of blocks as the content of a rank, equal contents once, priced with nothing recomputed.
class Ranges {
 public:
  explicit Ranges(const RecomputePlacer& placer) : sequence_(placer.question().graph().sequence()) {
    const std::size_t kinds = placer.blocks().size();
    for (const bool receives : {false, true})
      for (std::size_t first = 0; first < (receives ? sequence_.size() : 1); ++first) {
        RankContent content{std::vector<std::int32_t>(kinds, 0), std::vector<std::int32_t>(kinds, 0), receives};
        for (std::size_t last = first; last < sequence_.size(); ++last) {
          ++content.executions[static_cast<std::size_t>(sequence_[last].index())];
          index_.emplace(content, 0);
        }
      }
    for (auto& [content, index] : index_) {
      index = static_cast<std::int32_t>(layout_.distinct.size());
      layout_.distinct.push_back(content);
    }
    // Without the copies of a tied embedding only where the first rank holds the embedding itself.
    StageLayout shifted = layout_;
    shifted.distinct.insert(shifted.distinct.begin(), RankContent{std::vector<std::int32_t>(kinds, 0),
                                                                  std::vector<std::int32_t>(kinds, 0), false});
    const StageTable table(placer.question().graph(), shifted, placer.blocks());
    costs_.assign(table.distinct().begin() + 1, table.distinct().end());
    for (std::size_t i = 0; i < costs_.size(); ++i)
      if (!layout_.distinct[i].receives) costs_[i].parameters = without_tied(costs_[i].parameters);
  }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(sequence_.size()); }
  /// Index of the content of blocks [first, last) on rank `rank`, extended block by block.
  [[nodiscard]] std::vector<std::int32_t> from(std::int32_t rank, std::int32_t first) const {
    std::vector<std::int32_t> indices;
    const std::size_t kinds = layout_.distinct.front().executions.size();
    RankContent content{std::vector<std::int32_t>(kinds, 0), std::vector<std::int32_t>(kinds, 0), rank > 0};
    for (auto i = static_cast<std::size_t>(first); i < sequence_.size(); ++i) {
      ++content.executions[static_cast<std::size_t>(sequence_[i].index())];
      indices.push_back(index_.at(content));
    }
    return indices;
  }
  [[nodiscard]] const RankContent& content(std::int32_t i) const {
    return layout_.distinct[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const StageCost& cost(std::int32_t i) const { return costs_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<BlockId> sequence_;
  std::map<RankContent, std::int32_t> index_;
  StageLayout layout_;
  std::vector<StageCost> costs_;
};

Picoseconds link_latency(const RecomputePlacer& placer, const Ranges& ranges) {
  const BlockPricer& pricer = placer.question().block_pricer();
  const StackCalibration& stack = pricer.kernels().calibration().stack;
  const RankGroup neighbours{2, rank_group(placer.strategy(), Axis::pipeline).stride};
  const Bytes boundary = ranges.cost(ranges.from(1, 1).front()).boundary;
  return to_picoseconds(stack.step_factor * stack.pipeline_exposure *
                        pricer.communication().time(Collective::send_receive, boundary, neighbours));
}

/// The makespan of the split that needs no search, or the largest number when it does not fit.
Picoseconds even_makespan(const RecomputePlacer& placer, const std::vector<Picoseconds>& latency) {
  const auto placed = placer.place(layout_of(placer.question(), placer.strategy()));
  if (!placed) return Picoseconds::largest();
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward;
  for (const PlacedStage& stage : placed->stages) {
    forward.push_back(stage.cost.forward_total());
    backward.push_back(stage.cost.backward_total());
  }
  return one_f_one_b_makespan({forward, backward, latency}, placer.strategy().micro_batches);
}

StagePrices prices_of(const RecomputePlacer& placer, const Ranges& ranges, Picoseconds worst) {
  const std::int32_t stages = placer.strategy().pipeline_stages;
  const std::int64_t m = placer.strategy().micro_batches;
  StagePrices prices(stages, ranges.size());
  for (std::int32_t s = 0; s < stages; ++s) {
    std::map<std::int32_t, std::optional<StagePrice>> placed;  // by content
    const std::int32_t furthest = s == 0 ? 0 : ranges.size() - stages + s;
    for (std::int32_t first = s; first <= furthest; ++first) {
      const std::vector<std::int32_t> contents = ranges.from(s, first);
      for (std::int32_t last = first + 1; last <= ranges.size() - (stages - 1 - s); ++last) {
        const std::int32_t i = contents[static_cast<std::size_t>(last - first - 1)];
        const StageCost& kept = ranges.cost(i);
        if (kept.forward_total() + kept.backward_total() > worst / m) break;
        auto [entry, is_new] = placed.try_emplace(i);
        if (is_new)
          if (const auto stage = placer.place(ranges.content(i), kept, s))
            entry->second = StagePrice{stage->cost.forward_total(), stage->cost.backward_total()};
        if (entry->second) prices.set(s, first, last, *entry->second);
      }
    }
  }
  return prices;
}

}  // namespace

std::optional<PlacedSplit> best_placed_split(const RecomputePlacer& placer) {
  const Strategy& s = placer.strategy();
  check(s.virtual_stages == 1 && (s.schedule == Schedule::one_f_one_b || s.pipeline_stages == 1),
        "splits are searched for plain 1F1B");
  const Ranges ranges(placer);
  if (ranges.size() < s.pipeline_stages) return std::nullopt;
  std::vector<Picoseconds> latency;
  if (s.pipeline_stages > 1)
    latency.assign(static_cast<std::size_t>(s.pipeline_stages - 1), link_latency(placer, ranges));
  const StagePrices prices = prices_of(placer, ranges, even_makespan(placer, latency));
  const auto best = one_f_one_b_partition(prices, latency, s.micro_batches);
  if (!best) return std::nullopt;
  PlacedSplit split{{}, {}, best->partition.value, latency, best->proven};
  std::int64_t first = 0;
  for (const std::int32_t layers : best->partition.layers) {
    split.chunks.push_back({first, first + layers});
    first += layers;
  }
  auto placed = placer.place(stage_layout(placer.question().graph(), split.chunks, s.pipeline_stages, {}));
  check(placed.has_value(), "every range of the split was placed before");
  split.placement = std::move(*placed);
  return split;
}

}  // namespace plumbline
