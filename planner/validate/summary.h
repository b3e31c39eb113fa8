#pragma once
/// \file summary.h: how far a series of predictions lies from what was measured.
///
/// Errors are predicted / measured - 1. MAPE is the mean of their magnitudes; median and p90 interpolate linearly
/// between order statistics (type 7 of Hyndman & Fan, 1996); worst keeps its sign. Spearman's coefficient is Pearson's
/// over ranks, equal values sharing their mean rank. Coverage is the share of measured values inside their interval.

#include <span>

#include "core/plan/estimate.h"

namespace plumbline {

struct PredictedPair {
  double measured = 0;
  Interval predicted;
  [[nodiscard]] double error() const { return predicted.expected / measured - 1; }
};

struct SeriesSummary {
  std::int64_t n = 0;
  double mape = 0;
  double bias = 0;  ///< mean of the signed errors
  double median = 0;
  double p90 = 0;
  double worst = 0;
  double spearman = 0;  ///< 0 below three pairs, where it says nothing
  double coverage = 0;
};

/// All zero for no pair. Measured values must be positive.
[[nodiscard]] SeriesSummary summarize(std::span<const PredictedPair> pairs);

/// Linear interpolation between order statistics; `share` in [0, 1]. Zero for no value.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// Of at least one value.
[[nodiscard]] double mean(std::span<const double> values);
/// The mean of the middle two of an even number of values.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double spearman(std::span<const double> first, std::span<const double> second);

}  // namespace plumbline
