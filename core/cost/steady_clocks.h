#pragma once
/// \file steady_clocks.h: whether the clocks of a sweep over micro-batches have become periodic, so that the rest of
/// equal rounds need not be swept.
///
/// Answers how many rounds ago all clocks were as they are now, all earlier by the same time, and by what time. Model:
/// a round sets clocks from clocks by sums and maxima alone, the same in every round; then equal states, but for one
/// shift, have equal futures. All times are integers, so equal is equal. A state is kept and held against those that
/// follow, and replaced after 1, 2, 4, ... rounds: any period is found within three times its length once it is there.
/// Source: max-plus linear recurrences become periodic (Baccelli et al., "Synchronization and Linearity", 1992, theorem
/// 3.112); R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980, section 3 (one kept state).
/// Not modelled: rounds that differ; those who sweep ask only between rounds that do not.
/// Checked against: tests/property/pipeline_time_test.cpp (whole sweeps of long pipelines, exact).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plumbline {

struct SteadyRounds {
  std::int64_t rounds = 0;
  std::int64_t shift = 0;  ///< of every clock, in these rounds
};

class SteadyClocks {
 public:
  /// After every round, in order.
  [[nodiscard]] std::optional<SteadyRounds> seen(std::span<const std::int64_t> clocks) {
    ++since_;
    if (!kept_.empty()) {
      const std::int64_t shift = clocks.front() - kept_.front();
      if (std::equal(clocks.begin(), clocks.end(), kept_.begin(),
                     [shift](std::int64_t now, std::int64_t before) { return now - before == shift; }))
        return SteadyRounds{since_, shift};
    }
    if (kept_.empty() || since_ == until_) {
      if (!kept_.empty()) until_ *= 2;
      kept_.assign(clocks.begin(), clocks.end());
      since_ = 0;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::int64_t> kept_;
  std::int64_t since_ = 0;  ///< rounds since `kept_`
  std::int64_t until_ = 1;  ///< another is kept
};

}  // namespace plumbline
