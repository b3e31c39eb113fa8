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
  const auto begin_before = [&](std::size_t rank, std::int64_t n) {
    return ranks[rank].begins[static_cast<std::size_t>(count - 1 - n)];
  };
  /// Whether an entry is later by the time that those before it are.
  const auto is_later = [&](std::size_t rank, std::int64_t entry, std::int32_t periods,
                            std::optional<Picoseconds>& shift) {
    ++compared;
    const auto by = is_shifted(rank, entry, ranks[rank].begins.back() - begin_before(rank, periods), periods);
    if (!by || (shift && *by != *shift)) return false;
    shift = by;
    return true;
  };
  const auto first_of = [&](std::size_t rank, std::int32_t periods) {
    return std::min(begin_before(rank, std::int64_t{2} * periods), ranks[rank].oldest);
  };
  const auto holds = [&](std::int32_t periods) -> std::optional<Picoseconds> {
    std::optional<Picoseconds> shift;
    // Where lists drift apart, that the first entries of periods do nearly always tells, before all entries are
    // looked at.
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::int64_t length = ranks[r].begins.back() - begin_before(r, periods);
      if (first_of(r, periods) - length < ranks[r].begins.front()) return std::nullopt;
      for (std::int64_t n = 1; n <= std::int64_t{2} * periods; ++n)
        if (!is_later(r, begin_before(r, n), periods, shift)) return std::nullopt;
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::int64_t first = first_of(r, periods);
      for (std::int64_t i = ranks[r].begins.back(); i-- > first;)
        if (!is_later(r, i, periods, shift)) return std::nullopt;
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
