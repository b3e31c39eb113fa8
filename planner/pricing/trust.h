#pragma once
/// \file trust.h: how far to trust a prediction: its question as calibrations look at it, and the interval that
/// follows.
///
/// The model and its sources are in core/cost/extrapolation.h; here a question and a strategy become RunFeatures. Of
/// a cluster with several kinds of devices the slowest one counts, as in pricing; width is that of the widest layer's
/// output. Not modelled: that memory of an allocator fails in jumps. Checked against:
/// tests/unit/planner/question/headroom_test.cpp (chances by drawing).

#include <string>

#include "core/cost/extrapolation.h"
#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

[[nodiscard]] RunFeatures run_features(const Question& question, const Strategy& strategy);
/// `host_share`: of the step that was priced (core/cost/host_share.h).
[[nodiscard]] Uncertainty uncertainty_of(const Question& question, const Strategy& strategy, double host_share);
/// Holds nine of ten measurements when log(predicted / measured) has this standard deviation.
[[nodiscard]] Interval interval_of(double expected, double sigma);
/// That what turns out to be needed is at most `capacity`, where log(predicted / measured) is normal with this standard
/// deviation: 0.95 where the interval ends at `capacity`. In ten-thousandths.
[[nodiscard]] double chance_to_fit(Bytes expected, double sigma, Bytes capacity);
/// "71 %", "> 99.9 %".
[[nodiscard]] std::string chance_text(double chance);
/// As a plan carries it.
[[nodiscard]] Trust trust_in(const Uncertainty& uncertainty);

}  // namespace plumbline
