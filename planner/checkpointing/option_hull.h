#pragma once
/// \file option_hull.h: the linear relaxation of a multiple-choice knapsack: a lower bound on its time.
///
/// Answers picoseconds that no choice of options under a capacity can undercut. Model: every layer moves along the
/// convex corners of its options from the smallest to the fastest; steps are taken by time saved per byte until the
/// capacity is used up, the last one in part. Source: Sinha and Zoltners, Operations Research 27 (1979).
/// Not modelled: integrality. Checked against: tests/property/layer_choice_test.cpp (never above brute force).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/checkpointing/layer_choice.h"

namespace plumbline {

/// A move between neighbouring corners of one group's options.
struct HullStep {
  std::int64_t bytes = 0;
  std::int64_t time = 0;  ///< saved by the move
  std::uint32_t group = 0;
  std::uint32_t option = 0;  ///< of the group, that the move reaches
};

class OptionHull {
 public:
  /// `allowed[g]`: the options of group g to choose from.
  explicit OptionHull(const std::vector<std::span<const LayerOption>>& allowed);
  explicit OptionHull(const std::vector<std::vector<LayerOption>>& allowed)
      : OptionHull(std::vector<std::span<const LayerOption>>(allowed.begin(), allowed.end())) {}

  [[nodiscard]] std::int64_t smallest(std::size_t group) const { return smallest_[group]; }
  /// The option where a group's moves begin.
  [[nodiscard]] std::size_t first_option(std::size_t group) const { return first_option_[group]; }
  /// By time saved per byte, best first; of one group in the order of its corners.
  [[nodiscard]] const std::vector<HullStep>& steps() const { return steps_; }
  [[nodiscard]] std::int64_t least_bytes(const std::vector<std::int64_t>& counts) const;
  /// Below any time of `counts[g]` layers of each group within `capacity` bytes, by at most two picoseconds.
  [[nodiscard]] std::int64_t bound(const std::vector<std::int64_t>& counts, std::int64_t capacity) const;
  /// A time that can be reached: only whole moves.
  [[nodiscard]] std::int64_t reachable(const std::vector<std::int64_t>& counts, std::int64_t capacity) const;

 private:
  friend class Relaxation;
  [[nodiscard]] std::int64_t most_time(const std::vector<std::int64_t>& counts) const;

  std::vector<std::size_t> first_option_;
  std::vector<std::int64_t> smallest_;  ///< bytes of each group's smallest option
  std::vector<std::int64_t> slowest_;   ///< and its time
  std::vector<HullStep> steps_;         ///< by time saved per byte, best first
};

/// `OptionHull::bound` of fixed numbers of layers at many capacities: O(log corners) each.
class Relaxation {
 public:
  /// `hull` outlives it.
  Relaxation(const OptionHull& hull, const std::vector<std::int64_t>& counts);
  [[nodiscard]] std::int64_t bound(std::int64_t capacity) const;

  /// Of capacities that never grow from call to call. Copies go on from where they are.
  class Falling {
   public:
    /// `relaxation` outlives it.
    explicit Falling(const Relaxation& relaxation) : of_(&relaxation), next_(relaxation.taken_.size()) {}
    /// At most `bound`, by some picoseconds: no divisions.
    [[nodiscard]] std::int64_t below_bound(std::int64_t capacity) {
      if (of_->taken_.empty() || capacity >= of_->last_bytes_) return of_->last_time_;
      while (next_ > 1 && of_->taken_[next_ - 1].bytes > capacity) --next_;
      const Taken& taken = of_->taken_[next_ - 1];
      const double saved = taken.rate * static_cast<double>(capacity - taken.bytes);
      return taken.time - static_cast<std::int64_t>(saved + slack + relative_slack * std::abs(saved));
    }

   private:
    static constexpr double slack = 8;               ///< more than `bound` itself has
    static constexpr double relative_slack = 1e-12;  ///< rounding of a product and a difference of doubles: 2^-52 each
    const Relaxation* of_;
    std::size_t next_;
  };

 private:
  struct Taken {
    std::int64_t bytes = 0;  ///< of all layers, the steps before this one taken
    std::int64_t time = 0;
    const HullStep* step = nullptr;
    double rate = 0;  ///< that the step saves, per byte
  };
  std::vector<Taken> taken_;  ///< by increasing bytes
  std::int64_t last_time_ = 0;
  std::int64_t last_bytes_ = 0;
};

}  // namespace plumbline
