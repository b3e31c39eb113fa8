#pragma once
/// \file trust.h: how far to trust a prediction: its question as calibrations look at it, and the interval that
/// follows.
///
/// The model and its sources stand in core/cost/extrapolation.h; here a question and a strategy become RunFeatures. Of
/// a cluster with several kinds of devices the slowest one counts, as in pricing; width is that of the widest layer's
/// output.

#include "core/cost/extrapolation.h"
#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

[[nodiscard]] RunFeatures run_features(const Question& question, const Strategy& strategy);
[[nodiscard]] Uncertainty uncertainty_of(const Question& question, const Strategy& strategy);
/// Holds nine of ten measurements when log(predicted / measured) has this standard deviation.
[[nodiscard]] Interval interval_of(double expected, double sigma);
/// As a plan carries it.
[[nodiscard]] Trust trust_in(const Uncertainty& uncertainty);

}  // namespace plumbline
