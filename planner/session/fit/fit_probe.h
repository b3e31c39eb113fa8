#pragma once
/// \file fit_probe.h: whether anything fits at one micro-batch, sequence, model and number of GPUs.
///
/// Checked against: tests/unit/planner/session/fit/fit_limits_test.cpp.

#include <optional>
#include <string>

#include "planner/session/estimate.h"
#include "planner/session/fit/fit_limits.h"
#include "planner/session/search/search.h"

namespace plumbline::session {

/// A point of the question, and the answer there.
struct FitPoint {
  std::string model;
  std::int64_t devices = 0;
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 1;
};
struct FitProbe {
  std::optional<Plan> plan;  ///< that fits
  std::string reason;        ///< where none does: why
};

class FitProber {
 public:
  /// Throws InputError where the question is wrong, whatever is varied of it. `base`: the question's own point.
  FitProber(const FitLimitsRequest& request, const FitPoint& base);

  /// Whose plans a free strategy is chosen from.
  [[nodiscard]] const FrameworkChoice& framework() const { return framework_; }
  /// The plan that fits, or why none does; what is wrong at this point alone is such a reason. Nothing where it was
  /// stopped first.
  [[nodiscard]] std::optional<FitProbe> at(const FitPoint& point, const Task& task) const;

 private:
  [[nodiscard]] QuestionText question_at(const FitPoint& point) const;
  [[nodiscard]] StrategyRequest given_strategy_at(const FitPoint& point) const;
  [[nodiscard]] SearchRequest any_strategy_at(const FitPoint& point) const;
  [[nodiscard]] FitProbe of_given_strategy(const FitPoint& point) const;
  [[nodiscard]] std::optional<FitProbe> of_any_strategy(const FitPoint& point, const Task& task) const;

  FitLimitsRequest request_;
  FrameworkChoice framework_;
  std::optional<Framework> request_framework_;
};

}  // namespace plumbline::session
