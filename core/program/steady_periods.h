#pragma once
/// \file steady_periods.h: whether times of a repeating list are periodic before its cut: the test behind jumps over a
/// steady state.
///
/// Answers how many periods of the list one period in time takes, and how long that is. Model: each rank has a list of
/// starts and ends, in the order of issue, with the places where periods begin; times are periodic where every entry of
/// the last two periods, and of all that what follows the cut still refers to, is that of one period before, later by
/// one and the same time on every rank. Integers, exact. Source: see steady_order.h.
/// Checked against: tests/property/steady_state_test.cpp.

#include <algorithm>
#include <optional>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

/// One rank's list up to its cut.
struct PeriodicRank {
  std::vector<std::int64_t> begins;  ///< of periods in the repeating part, ascending; the last one is the cut
  std::int64_t oldest = 0;           ///< first entry that something behind the cut refers to; at most the cut
};

struct SteadyPeriods {
  std::int32_t periods = 0;  ///< of the list in one of time
  Picoseconds time{0};       ///< that they take
};

/// A list without periods is found to have none in as many steps as it has entries, squared: it is left after so many,
/// a few tenths of a second.
inline constexpr std::int64_t most_compared_entries = std::int64_t{1} << 24;

/// `is_shifted(rank, entry, length, periods)`: by what time the entry is later than the one `length` before it, which
/// does the same for a micro-batch of `periods` periods earlier; nothing where it does something else. `is_apart`:
/// whether so many periods meet nothing older at work.
template <class IsShifted, class IsApart>
[[nodiscard]] std::optional<SteadyPeriods> steady_periods(const std::vector<PeriodicRank>& ranks, IsShifted is_shifted,
                                                          IsApart is_apart) {
  const auto count = static_cast<std::int64_t>(ranks.front().begins.size());
  std::int64_t compared = 0;
  const auto holds = [&](std::int32_t periods) -> std::optional<Picoseconds> {
    std::optional<Picoseconds> shift;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::vector<std::int64_t>& begins = ranks[r].begins;
      const auto begin_before = [&](std::int64_t n) { return begins[static_cast<std::size_t>(count - 1 - n)]; };
      const std::int64_t cut = begins.back();
      const std::int64_t length = cut - begin_before(periods);
      const std::int64_t first = std::min(begin_before(std::int64_t{2} * periods), ranks[r].oldest);
      if (first - length < begins.front()) return std::nullopt;
      for (std::int64_t i = cut; i-- > first;) {
        ++compared;
        const std::optional<Picoseconds> by = is_shifted(r, i, length, periods);
        if (!by || (shift && *by != *shift)) return std::nullopt;
        shift = by;
      }
    }
    return shift;
  };
  for (std::int32_t periods = 1; std::int64_t{3} * periods < count && compared < most_compared_entries; ++periods) {
    const auto time = holds(periods);
    if (time && is_apart(periods)) return SteadyPeriods{periods, *time};
  }
  return std::nullopt;
}

}  // namespace plumbline
