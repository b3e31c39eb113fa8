#pragma once
/// \file ties.h: which leading plans of a ranking could as well be the first, and what following the first may cost.
///
/// Model: the logarithm of predicted over measured is normal with the standard deviation of the plan's interval
/// (core/cost/extrapolation.h). Of that a part is common to all plans of one question (the device, the stack, the
/// network): it moves no order. The rest, `own_error_share` of it, is each plan's own and independent. A plan is tied
/// with the first where their steps differ by less than one standard deviation of the difference of their own errors:
/// the order is then wrong in more than one case of six.
/// Expected regret: with predictions p_j and own deviations s_j the true logarithms are X_j ~ N(ln p_j, s_j^2); the
/// first of a ranking is the plan whose error was luckiest, so what is expected of the best is less than what is
/// expected of the first: regret = exp(E[X_1] - E[min_j X_j]) - 1, where E[min] follows from the product of the plans'
/// survival functions, summed numerically.
/// Source: the winner's curse as in Smith and Winkler, "The Optimizer's Curse", Management Science 52(3), 2006.
/// Not modelled: that plans which are much alike err alike (give one of them), plans that are not given.
/// Checked against: tests/unit/planner/search/ties_test.cpp (by drawing), tests/reference/own_error_test.cpp.

#include <cstddef>
#include <optional>
#include <vector>

#include "core/plan/plan.h"
#include "planner/search/ranked_strategy.h"

namespace plumbline {

/// Standard deviation of a run's error around the mean error of its question, over that of its interval: over 34
/// questions of the published rows (tests/reference/own_error_test.cpp).
inline constexpr double own_error_share = 0.36;

/// A predicted step and the standard deviation of the logarithm of its own error.
struct PredictedStep {
  double step_s = 0;
  double own_sigma = 0;
};

/// Standard deviation of the difference of two plans' own errors, as a logarithm.
[[nodiscard]] double noise_between(const PredictedStep& one, const PredictedStep& other);
/// Expected cost of taking the first, over the best of all in hindsight. 0 of fewer than two.
[[nodiscard]] double expected_regret(const std::vector<PredictedStep>& plans);

/// How the leading plans of a ranking compare.
struct Ties {
  std::size_t tied = 1;      ///< leading plans that are within the noise of the first
  std::size_t simplest = 0;  ///< of these, or like it, and trained alike: kinds of parallelism, schedule, memory
  std::optional<Strategy> simplest_like;  ///< where it is not the plan itself but one that it stands for
  double noise = 0;                       ///< between the first two
  double regret = 0;                      ///< of following the first
};
/// Of plans in the order of their step times, and those that each stands for (equivalent.h; or none); nothing is tied
/// with a plan that fits less surely.
[[nodiscard]] Ties ties_of(const std::vector<Plan>& plans,
                           const std::vector<std::vector<RankedStrategy>>& equivalent = {});

}  // namespace plumbline
