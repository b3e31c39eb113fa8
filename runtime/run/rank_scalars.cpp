#include "runtime/run/rank_scalars.h"

#include <algorithm>
#include <cmath>

namespace plumbline {

namespace {

/// `counts_loss`: whether no other rank has the loss of the same tokens.
RankScalars scalars_of(const StepTotals& totals, bool counts_loss) {
  RankScalars scalars;
  if (counts_loss) scalars.loss = totals.loss.sum;
  if (counts_loss) scalars.tokens = static_cast<double>(totals.loss.tokens);
  scalars.sum_of_squares = totals.gradients.sum_of_squares;
  scalars.has_non_finite = totals.gradients.has_non_finite != 0 ? 1 : 0;
  scalars.stop_signal = static_cast<double>(totals.stop_signal);
  return scalars;
}

}  // namespace

std::vector<RankScalars> scalars_by_rank(std::span<const StepTotals> ranks, const Strategy& strategy) {
  std::vector<RankScalars> by_rank;
  for (const StepTotals& totals : ranks)
    by_rank.push_back(
        scalars_of(totals, coordinate(strategy, Axis::tensor, static_cast<std::int32_t>(by_rank.size())) == 0));
  return by_rank;
}

std::vector<RankScalars> all_scalars(Communicator& everyone, const RankScalars& own) {
  std::vector<RankScalars> all(static_cast<std::size_t>(everyone.rank_set().size()));
  everyone.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)), ElementFormat::bytes);
  return all;
}

std::optional<std::int32_t> first_non_finite(const std::vector<RankScalars>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [](const RankScalars& one) {
    return one.has_non_finite > 0 || !std::isfinite(one.loss) || !std::isfinite(one.sum_of_squares);
  });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - all.begin());
}

RankScalars sum_of(const std::vector<RankScalars>& all) {
  RankScalars sum;
  for (const RankScalars& one : all) {
    sum.loss += one.loss;
    sum.tokens += one.tokens;
    sum.sum_of_squares += one.sum_of_squares;
    sum.has_non_finite += one.has_non_finite;
    sum.stop_signal = std::max(sum.stop_signal, one.stop_signal);
  }
  return sum;
}

}  // namespace plumbline
