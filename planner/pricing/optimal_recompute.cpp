#include "planner/pricing/optimal_recompute.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/cost/ruled_variants.h"
#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"
#include "planner/checkpointing/exact_placement.h"
#include "planner/checkpointing/named_modes.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"

namespace plumbline {
namespace {

/// What a stage's replay takes per micro-batch, on the device and until the host has launched it.
struct StageReplay {
  Picoseconds device{0};
  Picoseconds host{0};
};

/// Of the heaviest rank and its host.
enum class Held : std::uint8_t { too_large, uncertain, certain };

/// One way to recompute; its step is priced when it is asked for.
struct Way {
  std::vector<std::int32_t> variants;
  std::vector<StageReplay> replays;  ///< by stage
  Held held = Held::too_large;
  Bytes peak{0};
  std::optional<Picoseconds> step = {};

  [[nodiscard]] bool fits() const { return held != Held::too_large; }
};

class Comparison {
 public:
  Comparison(const Question& question, const Strategy& strategy, const RankLayersTable& groups,
             const std::vector<Chunk>& chunks)
      : question_(question),
        strategy_(strategy),
        groups_(groups),
        blocks_(groups.blocks()),
        chunks_(chunks),
        sequence_(question.graph().sequence()),
        sites_(question.stage_sites(strategy)) {}

  std::vector<std::int32_t> best() {
    // Nothing is faster than what surely fits and replays nothing.
    Way kept{ruled_variants(question_.graph(), {}, chunks_), {}};
    const StageLayout layout = layout_of(kept);
    const StageTable stages(question_.graph(), layout, blocks_);
    hold(kept, stages);
    if (kept.held == Held::certain) return std::move(kept.variants);
    kept_ = &stages;
    best_ = way_of(exact_placement(RecomputePlacer(question_, strategy_, groups_), chunks_).variants);
    find_layers();
    find_overfull_ranks();
    for (const Recompute mode : named_modes(question_.graph().layer_count())) consider(mode);
    return std::move(best_.variants);
  }

 private:
  void consider(Recompute mode) {
    Way way;
    if (mode.mode == RecomputeMode::every_nth) {
      // Most of these many are refused by their replays alone.
      way.replays = replays_of_every(mode.n);
      if (is_hopeless(way)) return;
      if (!replayed_.insert(replayed_by_every(mode.n)).second) return;
    }
    way.variants = ruled_variants(question_.graph(), mode, chunks_);
    way.replays = replays_of(way.variants);
    if (is_hopeless(way) || (best_.fits() && !relieves(way))) return;
    const StageLayout layout = layout_of(way);
    const StageTable stages(question_.graph(), layout, blocks_);
    hold(way, stages);
    if (way.held < best_.held) return;
    if (way.held == best_.held && !(way.fits() ? is_faster(way, stages) : way.peak < best_.peak)) return;
    const bool is_safer = way.held > best_.held;
    best_ = std::move(way);
    if (is_safer) find_overfull_ranks();
  }

  /// Without its price: what does not fit as surely as the best, or replays more where nothing could be surer.
  [[nodiscard]] bool is_hopeless(const Way& way) const {
    return best_.fits() && (!may_fit(way) || (best_.held == Held::certain && !may_be_faster(way)));
  }
  /// What a way must stay below to be as sure as the best that fits.
  [[nodiscard]] Bytes limit() const {
    return best_.held == Held::certain ? question_.certain_capacity() : question_.capacity();
  }

  [[nodiscard]] Way way_of(std::vector<std::int32_t> variants) const {
    Way way{std::move(variants), {}};
    way.replays = replays_of(way.variants);
    const StageLayout layout = layout_of(way);
    hold(way, StageTable(question_.graph(), layout, blocks_));
    return way;
  }

  void hold(Way& way, const StageTable& stages) const {
    way.peak = peak_memory(question_, stages, strategy_);
    const bool fits = way.peak <= question_.capacity() && fits_host(question_, stages, strategy_);
    const bool is_certain = fits && way.peak <= question_.certain_capacity();
    way.held = is_certain ? Held::certain : fits ? Held::uncertain : Held::too_large;
  }

  [[nodiscard]] bool is_faster(Way& way, const StageTable& stages) {
    const StepPricer& pricer = question_.step_pricer();
    if (!best_.step) best_.step = step_of(best_);
    if (pricer.lower_bound(stages, strategy_) >= *best_.step) return false;
    way.step = pricer.total(stages, strategy_);
    return *way.step < *best_.step;
  }
  [[nodiscard]] Picoseconds step_of(const Way& way) const {
    const StageLayout layout = layout_of(way);
    return question_.step_pricer().total(StageTable(question_.graph(), layout, blocks_), strategy_);
  }

  struct Layer {
    std::size_t stage = 0;
    std::size_t block = 0;
    StageReplay full;
  };
  void find_layers() {
    for (std::size_t s = 0; s < chunks_.size(); ++s)
      for (auto i = static_cast<std::size_t>(chunks_[s].first); i < static_cast<std::size_t>(chunks_[s].last); ++i) {
        if (question_.graph().block(sequence_[i]).kind() != BlockKind::layer) continue;
        const std::size_t block = cost_index(s, i);
        const VariantTimes& full = blocks_[block].times(Variant::full);
        layers_.push_back({s, block, {full.recompute.total(), full.host}});
      }
  }
  /// How many layers of each block each stage replays: modes of which that is the same are the same to every rank.
  [[nodiscard]] std::vector<std::int32_t> replayed_by_every(std::int32_t n) const {
    std::vector<std::int32_t> counts(chunks_.size() * blocks_.size(), 0);
    for (std::size_t l = 0; l < layers_.size(); l += static_cast<std::size_t>(n))
      ++counts[layers_[l].stage * blocks_.size() + layers_[l].block];
    return counts;
  }
  [[nodiscard]] std::vector<StageReplay> replays_of_every(std::int32_t n) const {
    std::vector<StageReplay> replays(chunks_.size());
    for (std::size_t l = 0; l < layers_.size(); l += static_cast<std::size_t>(n)) {
      replays[layers_[l].stage].device += layers_[l].full.device;
      replays[layers_[l].stage].host += layers_[l].full.host;
    }
    return replays;
  }

  /// Ranks that must replay something to fit.
  void find_overfull_ranks() {
    overfull_.clear();
    std::vector<std::pair<Bytes, std::int32_t>> overfull;
    for (std::int32_t rank = 0; rank < strategy_.pipeline_stages; ++rank) {
      const Bytes held = held_by(rank, rank_load(*kept_, strategy_, rank, question_.kept_gradients(strategy_)));
      if (held > limit()) overfull.emplace_back(held, rank);
    }
    std::sort(overfull.rbegin(), overfull.rend());
    for (const auto& [held, rank] : overfull) overfull_.push_back(rank);
  }
  [[nodiscard]] Bytes held_by(std::int32_t rank, const PeakLoads& load) const {
    const StageCost& stage = (*kept_)[static_cast<std::size_t>(rank)];
    const Bytes held = stage_memory(stage, load, strategy_, question_.training().formats(),
                                    question_.training().optimizer, question_.calibration().stack)
                           .device_total();
    return question_.on_smallest(held, stage.site);
  }
  /// Whether all these ranks fit: that nearly always tells, before all ranks are looked at.
  [[nodiscard]] bool relieves(const Way& way) const {
    return std::all_of(overfull_.begin(), overfull_.end(), [&](std::int32_t rank) {
      std::vector<StageCost> chunks;
      for (std::int32_t c = 0; c < strategy_.virtual_stages; ++c) {
        const std::int32_t stage = stage_of(placement(strategy_.schedule), strategy_.pipeline_stages, rank, c);
        const Chunk chunk = chunks_[static_cast<std::size_t>(stage)];
        chunks.push_back(
            stage_cost(stage_content(question_.graph(), strategy_, way.variants, chunk, sites_, rank), blocks_));
      }
      return held_by(rank, rank_load(*kept_, strategy_, rank, question_.kept_gradients(strategy_), chunks)) <= limit();
    });
  }
  [[nodiscard]] bool may_fit(const Way& way) const {
    return std::all_of(overfull_.begin(), overfull_.end(), [&](std::int32_t rank) {
      for (std::int32_t c = 0; c < strategy_.virtual_stages; ++c) {
        const std::int32_t stage = stage_of(placement(strategy_.schedule), strategy_.pipeline_stages, rank, c);
        const StageReplay& replay = way.replays[static_cast<std::size_t>(stage)];
        if (replay.device + replay.host > Picoseconds(0)) return true;
      }
      return false;
    });
  }

  /// A step whose stages all replay longer is no faster, but where the backward is split.
  [[nodiscard]] bool may_be_faster(const Way& way) const {
    if (splits_backward(strategy_.schedule)) return true;
    for (std::size_t s = 0; s < way.replays.size(); ++s)
      if (way.replays[s].device < best_.replays[s].device || way.replays[s].host < best_.replays[s].host) return true;
    return false;
  }
  [[nodiscard]] std::vector<StageReplay> replays_of(const std::vector<std::int32_t>& variants) const {
    std::vector<StageReplay> replays;
    for (std::size_t s = 0; s < chunks_.size(); ++s) {
      const Chunk& chunk = chunks_[s];
      StageReplay& stage = replays.emplace_back();
      for (auto i = static_cast<std::size_t>(chunk.first); i < static_cast<std::size_t>(chunk.last); ++i) {
        const VariantTimes& variant = blocks_[cost_index(s, i)].times(variants[i]);
        stage.device += variant.recompute.total();
        stage.host += variant.host;
      }
    }
    return replays;
  }
  [[nodiscard]] StageLayout layout_of(const Way& way) const {
    return stage_layout(question_.graph(), strategy_, chunks_, way.variants, sites_);
  }
  /// Where the costs of an execution on stage `s` of the network are.
  [[nodiscard]] std::size_t cost_index(std::size_t s, std::size_t execution) const {
    const std::int32_t rank =
        rank_of_stage(placement(strategy_.schedule), strategy_.pipeline_stages, static_cast<std::int32_t>(s));
    const auto site = static_cast<std::size_t>(sites_.site(static_cast<std::size_t>(rank)));
    return site * question_.graph().blocks().size() + static_cast<std::size_t>(sequence_[execution].index());
  }

  const Question& question_;
  const Strategy& strategy_;
  const RankLayersTable& groups_;
  const std::vector<BlockCost>& blocks_;
  const std::vector<Chunk>& chunks_;
  std::vector<BlockId> sequence_;
  StageSites sites_;
  std::vector<Layer> layers_;
  std::set<std::vector<std::int32_t>> replayed_;  ///< by every n-th mode that was looked at
  std::vector<std::int32_t> overfull_;            ///< the fullest first
  const StageTable* kept_ = nullptr;              ///< with nothing recomputed
  Way best_;
};

}  // namespace

std::vector<std::int32_t> optimal_variants(const Question& question, const Strategy& strategy,
                                           const RankLayersTable& groups, const std::vector<Chunk>& chunks) {
  return Comparison(question, strategy, groups, chunks).best();
}

}  // namespace plumbline
