#pragma once
/// \file knapsack.h: the multiple-choice knapsack of a stage's layers under one cap on what a layer may restore.
///
/// Answers the assignment of options of least time within a capacity of kept bytes. Model: labels (kept, time) layer by
/// layer, dropped when dominated or when the relaxation (option_hull.h) of the remaining layers exceeds a time that is
/// known to be reachable. Exact; where steps are limited, layers go on from the most promising labels alone.
/// Source: Kellerer, Pferschy, Pisinger, "Knapsack Problems", chapter 11.
/// Checked against: tests/property/layer_choice_test.cpp, through LayerChooser.

#include <algorithm>
#include <limits>

#include "planner/checkpointing/capped_options.h"

namespace plumbline {

/// Steps of a choice, each some nanoseconds, so that it ends in time; counted, not timed: the same everywhere.
class ChoiceEffort {
 public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  ChoiceEffort() = default;
  ChoiceEffort(std::size_t steps, std::size_t labels) : left_(steps), labels_(labels) {}
  void spend(std::size_t steps) { left_ -= std::min(left_, steps); }
  [[nodiscard]] bool is_spent() const { return left_ == 0; }
  /// That a layer may go on from.
  [[nodiscard]] std::size_t labels() const { return labels_; }

 private:
  std::size_t left_ = unlimited;
  std::size_t labels_ = unlimited;
};

/// The knapsack under one cap on restored bytes, for any capacity of kept bytes.
class Knapsack {
 public:
  /// `options`: of `groups`; both outlive it.
  Knapsack(std::span<const LayerGroup> groups, const CappedOptions& options);

  [[nodiscard]] bool fits(std::int64_t capacity) const { return smallest_ <= capacity; }
  [[nodiscard]] std::int64_t bound(std::int64_t capacity) const { return hull().bound(counts_, capacity); }
  [[nodiscard]] std::int64_t reachable(std::int64_t capacity) const { return hull().reachable(counts_, capacity); }
  /// How many layers of each group take each of the allowed options, and their time.
  struct Counted {
    std::vector<std::vector<std::int64_t>> counts;
    Picoseconds time{0};
  };
  /// A good choice fast: whole moves along the convex corners, then exchanges of one or two layers that use what is
  /// left, while they save time. Requires `fits`.
  [[nodiscard]] Counted exchanged(std::int64_t capacity, ChoiceEffort& effort) const;
  [[nodiscard]] LayerChoice read(const Counted& counted) const;
  /// The best choice of at most `limit` time; a good one or none where the effort is limited.
  [[nodiscard]] std::optional<LayerChoice> solve(std::int64_t capacity, std::int64_t limit, ChoiceEffort& effort) const;

 private:
  struct Label {
    std::int64_t saved = 0;
    std::int64_t time = 0;
    std::int32_t taken = -1;  ///< index of the last layer's choice
  };
  struct Taken {
    std::size_t group = 0;
    std::size_t option = 0;  ///< of the group's own options
    std::int32_t before = -1;
  };
  /// Undominated choices for the layers so far.
  struct Labels {
    std::vector<Label> ends;
    std::vector<Taken> taken;
  };
  struct Limits {
    std::int64_t capacity = 0;
    std::int64_t time = 0;
  };
  /// `options`: those worthwhile.
  void add_layer(std::size_t group, const std::vector<std::size_t>& options, const std::vector<std::int64_t>& left,
                 const Limits& limits, Labels& labels, ChoiceEffort& effort) const;
  [[nodiscard]] std::vector<std::size_t> worthwhile(std::size_t group, const Limits& limits) const;
  [[nodiscard]] LayerChoice read(const Labels& labels) const;

  [[nodiscard]] const OptionHull& hull() const { return *options_->hull; }
  [[nodiscard]] const std::vector<std::vector<CappedOption>>& allowed() const { return options_->allowed; }

  std::span<const LayerGroup> groups_;
  const CappedOptions* options_;
  std::int64_t smallest_ = 0;
  std::vector<std::int64_t> counts_;
};

}  // namespace plumbline
