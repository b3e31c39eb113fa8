#include "planner/validate/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plumbline {
namespace {

constexpr std::size_t fewest_for_ranks = 3;

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
    for (std::size_t i = begin; i < end; ++i) result[order[i]] = mean;
    begin = end;
  }
  return result;
}

double correlation(std::span<const double> first, std::span<const double> second) {
  const double mean_first = mean(first);
  const double mean_second = mean(second);
  double product = 0;
  double square_first = 0;
  double square_second = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] - mean_first;
    const double b = second[i] - mean_second;
    product += a * b;
    square_first += a * a;
    square_second += b * b;
  }
  const double scale = std::sqrt(square_first * square_second);
  return scale > 0 ? product / scale : 0;
}

}  // namespace

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double spearman(std::span<const double> first, std::span<const double> second) {
  if (first.size() < fewest_for_ranks) return 0;
  return correlation(ranks(first), ranks(second));
}

SeriesSummary summarize(std::span<const PredictedPair> pairs) {
  SeriesSummary summary;
  summary.n = static_cast<std::int64_t>(pairs.size());
  if (pairs.empty()) return summary;
  std::vector<double> magnitudes;
  std::vector<double> measured;
  std::vector<double> predicted;
  double inside = 0;
  double signed_sum = 0;
  for (const PredictedPair& pair : pairs) {
    const double error = pair.error();
    magnitudes.push_back(std::abs(error));
    measured.push_back(pair.measured);
    predicted.push_back(pair.predicted.expected);
    signed_sum += error;
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
    if (pair.predicted.low <= pair.measured && pair.measured <= pair.predicted.high) inside += 1;
  }
  constexpr double nine_tenths = 0.9;
  summary.mape = mean(magnitudes);
  summary.bias = signed_sum / static_cast<double>(pairs.size());
  summary.median = median(magnitudes);
  summary.p90 = quantile(magnitudes, nine_tenths);
  summary.spearman = spearman(measured, predicted);
  summary.coverage = inside / static_cast<double>(pairs.size());
  return summary;
}

}  // namespace plumbline
