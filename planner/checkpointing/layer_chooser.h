#pragma once
/// \file layer_chooser.h: many choices from the same layers (layer_choice.h): what no budget changes is prepared once.
///
/// Answers a choice of nearly the least time, and a lower bound on any, in picoseconds. Model: exchanges of layers from
/// the convex corners, proven by the relaxation (option_hull.h), and labels (knapsack.h) only where that proves too
/// little. The ranks of a pipeline mostly hold the same layers and differ in how many micro-batches are in flight.
/// Layers with hundreds of options under hundreds of caps (attention without FlashAttention) are chosen with a limited
/// number of steps, the most promising caps first: the best choice found by then, 0.3 % from the proven one at worst.
/// Checked against: tests/property/layer_choice_test.cpp (brute force).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "planner/checkpointing/knapsack.h"
#include "planner/checkpointing/layer_choice.h"

namespace plumbline {

/// What a choice among very many options may take, of exchanges and again of labels: half a millisecond, at about 15 ns
/// a step. Source: tests/property/placement_effort_test.cpp, which compares it with ten times as much.
struct EffortLimit {
  std::size_t steps = 30'000;
  std::size_t labels = 16;  ///< that a layer may go on from
};

/// Callable from any thread.
class LayerChooser {
 public:
  /// `groups` outlive it.
  explicit LayerChooser(std::span<const LayerGroup> groups);
  /// `caps`: of the same groups, or others that have the same options and layers of the same kinds.
  LayerChooser(std::span<const LayerGroup> groups, const OptionCaps& caps);

  /// A choice that takes at most `tolerance` longer than the best, but for very many options; nothing when none fits.
  /// The same for the same input, whatever was asked before.
  [[nodiscard]] std::optional<LayerChoice> choose(std::int64_t in_flight, Bytes budget, Picoseconds tolerance,
                                                  EffortLimit limit = {}) const;
  /// Never more than the time of any choice that fits; nothing when none can. One relaxation for all caps.
  [[nodiscard]] std::optional<Picoseconds> least_replay(std::int64_t in_flight, Bytes budget) const;
  /// The same, one relaxation for each cap that may have the least: tighter where layers restore much.
  [[nodiscard]] std::optional<Picoseconds> least_capped_replay(std::int64_t in_flight, Bytes budget) const;

 private:
  void prepare();
  /// A cap under which the best may be found.
  struct Open {
    Knapsack knapsack;
    std::int64_t capacity;
    std::int64_t bound;
  };
  [[nodiscard]] ChoiceEffort effort(EffortLimit limit) const;
  [[nodiscard]] std::optional<std::int64_t> bound(std::int64_t capacity) const;
  [[nodiscard]] Bytes likely_restored(std::int64_t in_flight, Bytes budget) const;
  [[nodiscard]] Bytes restored_at(const std::vector<std::size_t>& corners) const;
  [[nodiscard]] std::vector<const OptionCaps::Cap*> promising_first(std::int64_t in_flight, Bytes budget) const;

  std::span<const LayerGroup> groups_;
  std::unique_ptr<const OptionCaps> own_caps_;
  const OptionCaps* caps_;
  std::vector<std::int64_t> counts_;  ///< of the groups with layers
  bool is_large_ = false;             ///< whether steps are limited
};

}  // namespace plumbline
