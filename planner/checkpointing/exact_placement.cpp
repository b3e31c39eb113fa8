#include "planner/checkpointing/exact_placement.h"

#include <algorithm>

#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

/// Placements tried for one target: the first moves a rank's capacity by the excess, each later one halves its bounds.
constexpr int most_placements = 8;
/// A capacity is settled once its bounds are this fraction of the device apart, well below the error of the estimate.
constexpr std::int64_t tolerated_parts_of_target = 512;

/// Whether a rank's peak is only estimated, from an average of its chunks or of the parts of a split backward.
bool is_estimated(const Strategy& s) { return s.virtual_stages > 1 || splits_backward(s.schedule); }

/// What is known of the capacity that a rank's placement may assume.
struct Assumed {
  Bytes capacity{0};
  std::optional<Bytes> fits;     ///< the most that is known to fit
  std::optional<Bytes> exceeds;  ///< the least that is known not to
  bool is_settled = false;
  Bytes last_move{0};  ///< while nothing fits yet

  /// `excess`: by how much the peak of the placement within `capacity` exceeds the target. A slightly smaller capacity
  /// may leave the peak as it is or even raise it, so until a placement fits, each move is at least twice the last.
  void learn(Bytes excess, Bytes tolerance) {
    const bool is_within = excess <= Bytes(0);
    (is_within ? fits : exceeds) = capacity;
    const bool is_known = fits && exceeds && *exceeds - *fits <= tolerance;
    is_settled = is_known || (is_within && Bytes(0) - excess <= tolerance);
    if (is_settled) return;
    if (!fits) {
      last_move = std::max({excess, tolerance, std::int64_t{2} * last_move});
      capacity -= last_move;
    } else {
      capacity = exceeds ? *fits + (*exceeds - *fits) / std::int64_t{2} : capacity - excess;
    }
    if (capacity <= Bytes(0)) is_settled = true;
  }
};

/// What the ranks of a placement hold at their peaks, and whether they replay anything.
struct Held {
  std::vector<Bytes> peaks;
  std::vector<bool> replays;
};

class ExactPlacement {
 public:
  ExactPlacement(const RecomputePlacer& placer, const std::vector<Chunk>& chunks)
      : placer_(placer), chunks_(chunks), ranks_(placer, chunks) {}

  Placement run() {
    const auto ranks = static_cast<std::size_t>(placer_.strategy().pipeline_stages);
    const StageSites sites = placer_.question().stage_sites(placer_.strategy());
    std::vector<Bytes> certain;
    std::vector<Bytes> all;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      certain.push_back(placer_.question().certain_capacity(sites.site(rank)));
      all.push_back(placer_.question().capacity(sites.site(rank)));
    }
    std::vector<Bytes> capacities = certain;
    std::vector<bool> fits(ranks, false);
    for (const std::vector<Bytes>& targets : {certain, all}) {
      if (std::find(fits.begin(), fits.end(), false) == fits.end()) break;
      tune(targets, capacities, fits);
    }
    Placement result = ranks_.place_within(capacities);
    result.fits = std::find(fits.begin(), fits.end(), false) == fits.end();
    return result;
  }

 private:
  /// Finds the capacities of the ranks that do not fit yet.
  void tune(const std::vector<Bytes>& targets, std::vector<Bytes>& capacities, std::vector<bool>& fits) {
    std::vector<Assumed> assumed;
    for (std::size_t rank = 0; rank < fits.size(); ++rank)
      assumed.push_back({fits[rank] ? capacities[rank] : targets[rank], {}, {}, fits[rank]});
    for (int n = 0; n < most_placements; ++n) {
      for (std::size_t rank = 0; rank < fits.size(); ++rank) capacities[rank] = assumed[rank].capacity;
      const Held held = held_by(ranks_.place_within(capacities));
      bool all_settled = true;
      for (std::size_t rank = 0; rank < fits.size(); ++rank) {
        Assumed& of_rank = assumed[rank];
        if (!of_rank.is_settled)
          of_rank.learn(held.peaks[rank] - targets[rank], targets[rank] / tolerated_parts_of_target);
        if (of_rank.fits && !held.replays[rank]) of_rank.is_settled = true;  // nothing is left to be gained
        all_settled = all_settled && of_rank.is_settled;
      }
      if (all_settled) break;
    }
    for (std::size_t rank = 0; rank < fits.size(); ++rank) {
      if (fits[rank]) continue;
      fits[rank] = assumed[rank].fits.has_value();
      capacities[rank] = assumed[rank].fits.value_or(Bytes(0));
    }
  }

  [[nodiscard]] Held held_by(const Placement& placed) const {
    const Question& question = placer_.question();
    const Strategy& s = placer_.strategy();
    const StageLayout layout = stage_layout(question.graph(), s, chunks_, placed.variants, question.stage_sites(s));
    const StageTable table(question.graph(), layout, placer_.blocks());
    Held held;
    for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
      const StageCost& stage = table[static_cast<std::size_t>(rank)];
      held.peaks.push_back(stage_memory(stage, rank_load(table, s, rank, question.kept_gradients(s)), s,
                                        question.training().formats(), question.training().optimizer,
                                        question.calibration().stack)
                               .device_total());
      held.replays.push_back(stage.recompute.total() > Picoseconds(0));
    }
    return held;
  }

  const RecomputePlacer& placer_;
  const std::vector<Chunk>& chunks_;
  SplitPlacer ranks_;
};

}  // namespace

Placement exact_placement(const RecomputePlacer& placer, const std::vector<Chunk>& chunks) {
  if (!is_estimated(placer.strategy())) return SplitPlacer(placer, chunks).place();
  return ExactPlacement(placer, chunks).run();
}

}  // namespace plumbline
