#include "planner/partition/balanced_split.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/errors.h"
#include "core/cost/pipeline_time.h"
#include "core/cost/ruled_variants.h"
#include "core/cost/stage_links.h"
#include "core/cost/stage_memory.h"
#include "core/plan/stage_split.h"

namespace plumbline {
namespace {

/// What a rank does with the blocks that it is given.
class RankPricer {
 public:
  RankPricer(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks)
      : question_(question), strategy_(strategy), placer_(question, strategy, blocks) {}

  [[nodiscard]] bool places() const { return strategy_.recompute.mode == RecomputeMode::placed; }
  /// `cost`: of `content` with its own variants; with everything kept where recompute is placed.
  [[nodiscard]] std::optional<StagePrice> price(const RankContent& content, const StageCost& cost, std::int32_t rank) {
    if (!places()) {
      const bool fits = stage_memory(cost, strategy_, question_.training().formats(), question_.training().optimizer,
                                     question_.calibration().stack, rank)
                            .device_total() <= question_.capacity(cost.site);
      return fits ? std::optional(StagePrice{cost.forward_total(), cost.backward_total()}) : std::nullopt;
    }
    const auto placed = placer_.place({&content, 1}, cost, rank);
    if (!placed) return std::nullopt;
    return StagePrice{cost.forward_total(), cost.passes_with(placed->time) - cost.forward_total()};
  }
  [[nodiscard]] const Question& question() const { return question_; }
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }
  [[nodiscard]] const std::vector<BlockCost>& blocks() const { return placer_.blocks(); }

 private:
  const Question& question_;
  const Strategy& strategy_;
  RecomputePlacer placer_;
};

/// Every range of blocks as the content of `rank`, equal contents once, priced.
class Ranges {
 public:
  Ranges(const RankPricer& pricer, const StageSites& sites, std::int32_t rank)
      : graph_(pricer.question().graph()),
        size_(static_cast<std::int32_t>(graph_.sequence().size())),
        variants_(ruled_variants(graph_, pricer.places() ? Recompute{} : pricer.strategy().recompute,
                                 {{0, std::ssize(graph_.sequence())}})) {
    std::map<RankContent, std::int32_t> found;
    index_.resize(slot(size_, 0));
    for (std::int32_t first = 0; first < size_; ++first)
      for (std::int32_t last = first + 1; last <= size_; ++last) {
        const auto next = static_cast<std::int32_t>(found.size());
        RankContent content = stage_content(graph_, pricer.strategy(), variants_, {first, last}, sites, rank);
        content.link = 0;  // ranks on the same site share their ranges
        const auto [entry, is_new] = found.try_emplace(std::move(content), next);
        index_[slot(first, last)] = entry->second;
        if (is_new) layout_.distinct.push_back(entry->first);
      }
    // A table takes its first content for the first rank, whose tied head is the embedding's own storage.
    StageLayout shifted = layout_;
    shifted.arrangement.site_count = sites.count;
    shifted.distinct.insert(shifted.distinct.begin(),
                            RankContent{std::vector<std::int32_t>(pricer.blocks().size(), 0), {}, false});
    const StageTable table(graph_, shifted, pricer.blocks());
    costs_.assign(table.distinct().begin() + 1, table.distinct().end());
    for (std::size_t i = 0; i < costs_.size(); ++i)
      if (!layout_.distinct[i].receives) costs_[i].parameters = without_tied(costs_[i].parameters);
  }

  [[nodiscard]] std::int32_t size() const { return size_; }
  /// Index of the content of blocks [first, last): the first range starts on the first rank, all others on later ones.
  [[nodiscard]] std::int32_t index(std::int32_t first, std::int32_t last) const { return index_[slot(first, last)]; }
  [[nodiscard]] const RankContent& content(std::int32_t i) const {
    return layout_.distinct[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const StageCost& cost(std::int32_t i) const { return costs_[static_cast<std::size_t>(i)]; }

 private:
  [[nodiscard]] std::size_t slot(std::int32_t first, std::int32_t last) const {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(size_ + 1) + static_cast<std::size_t>(last);
  }

  const Graph& graph_;
  std::int32_t size_;
  std::vector<std::int32_t> variants_;
  std::vector<std::int32_t> index_;  ///< by range
  StageLayout layout_;
  std::vector<StageCost> costs_;
};

/// By pipeline rank: the ranges of its site, of ranks on one site the same.
class SiteRanges {
 public:
  SiteRanges(const RankPricer& pricer, std::int32_t ranks) : sites_(pricer.question().stage_sites(pricer.strategy())) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      auto& of_site = by_site_[sites_.site(static_cast<std::size_t>(rank))];
      if (!of_site) of_site = std::make_unique<const Ranges>(pricer, sites_, rank);
      of_rank_.push_back(of_site.get());
    }
  }

  [[nodiscard]] const Ranges& operator[](std::int32_t rank) const { return *of_rank_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::int32_t size() const { return of_rank_.front()->size(); }
  [[nodiscard]] const StageSites& sites() const { return sites_; }

 private:
  StageSites sites_;
  std::map<std::int32_t, std::unique_ptr<const Ranges>> by_site_;
  std::vector<const Ranges*> of_rank_;
};

/// Of messages from the rank before `rank`.
Picoseconds link_latency(const RankPricer& pricer, const SiteRanges& ranges, std::int32_t rank) {
  const Bytes boundary = ranges[0].cost(ranges[0].index(1, 2)).boundary;
  const std::int32_t site = ranges.sites().link(static_cast<std::size_t>(rank));
  return stage_link(pricer.question().block_pricer(site), rank, boundary, pricer.strategy()).hop;
}

/// The makespan of the split that needs no search, or the largest number when it does not fit.
Picoseconds even_makespan(RankPricer& pricer, const SiteRanges& all, const std::vector<Picoseconds>& latency) {
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward;
  for (const Chunk& chunk : split_into_chunks(pricer.question().graph(), pricer.strategy().chunks())) {
    const Ranges& ranges = all[static_cast<std::int32_t>(forward.size())];
    const std::int32_t i = ranges.index(static_cast<std::int32_t>(chunk.first), static_cast<std::int32_t>(chunk.last));
    const auto price = pricer.price(ranges.content(i), ranges.cost(i), static_cast<std::int32_t>(forward.size()));
    if (!price) return Picoseconds::largest();
    forward.push_back(price->forward);
    backward.push_back(price->backward);
  }
  return one_f_one_b_makespan({forward, backward, latency}, pricer.strategy().micro_batches);
}

StagePrices prices_of(RankPricer& pricer, const SiteRanges& all, Picoseconds worst) {
  const std::int32_t stages = pricer.strategy().pipeline_stages;
  const std::int64_t m = pricer.strategy().micro_batches;
  StagePrices prices(stages, all.size());
  for (std::int32_t s = 0; s < stages; ++s) {
    const Ranges& ranges = all[s];
    std::map<std::int32_t, std::optional<StagePrice>> priced;  // by content
    const std::int32_t furthest = s == 0 ? 0 : ranges.size() - stages + s;
    for (std::int32_t first = s; first <= furthest; ++first)
      for (std::int32_t last = first + 1; last <= ranges.size() - (stages - 1 - s); ++last) {
        const std::int32_t i = ranges.index(first, last);
        const StageCost& cost = ranges.cost(i);
        if (cost.forward_total() + cost.backward_total() > worst / m) break;
        auto [entry, is_new] = priced.try_emplace(i);
        if (is_new) entry->second = pricer.price(ranges.content(i), cost, s);
        if (entry->second) prices.set(s, first, last, *entry->second);
      }
  }
  return prices;
}

}  // namespace

std::optional<BalancedSplit> balanced_split(const Question& question, const Strategy& strategy,
                                            const std::vector<BlockCost>& blocks) {
  check(strategy.virtual_stages == 1 && (strategy.schedule == Schedule::one_f_one_b || strategy.pipeline_stages == 1),
        "splits are searched for plain 1F1B");
  RankPricer pricer(question, strategy, blocks);
  const SiteRanges ranges(pricer, strategy.pipeline_stages);
  if (ranges.size() < strategy.pipeline_stages) return std::nullopt;
  std::vector<Picoseconds> latency;
  for (std::int32_t rank = 1; rank < strategy.pipeline_stages; ++rank)
    latency.push_back(link_latency(pricer, ranges, rank));
  const StagePrices prices = prices_of(pricer, ranges, even_makespan(pricer, ranges, latency));
  const auto best = one_f_one_b_partition(prices, latency, strategy.micro_batches);
  if (!best) return std::nullopt;
  BalancedSplit split{{}, best->partition.value, latency, best->proven};
  std::int64_t first = 0;
  for (const std::int32_t layers : best->partition.layers) {
    split.chunks.push_back({first, first + layers});
    first += layers;
  }
  return split;
}

}  // namespace plumbline
