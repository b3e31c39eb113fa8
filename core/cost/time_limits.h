#pragma once
/// \file time_limits.h: where times stop, so that no sum of integer picoseconds leaves its 64 bits.
///
/// Answers picoseconds. Model: what a phase of one micro-batch takes on a stage, and each thing that happens once per
/// step, stops at `longest_phase`; a step is the sum of a few of them for every micro-batch and stage, taken as a
/// double first: beyond `most_work` it stops at `most_work`. A step longer than `longest_step` is refused by those who
/// ask for one (planner/pricing/evaluate.h), and nothing that stopped is shorter, so that no answer rests on a stopped
/// time.
/// Source: the range of std::int64_t, 106 days of picoseconds. Not modelled: steps of more than a day; published ones
/// take seconds to minutes.
/// Checked against: tests/integration/extremes_test.py (the ends of every range of the input, random points between).

#include <algorithm>

#include "core/quantity/quantity.h"

namespace plumbline {

/// 24 hours.
inline constexpr Picoseconds longest_step(86'400'000'000'000'000);
/// 40 hours; 64 of them fit 64 bits.
inline constexpr Picoseconds longest_phase(std::int64_t{1} << 57);
/// 26 days: what all stages of a pipeline do one after another in a step.
inline constexpr Picoseconds most_work(std::int64_t{1} << 61);
static_assert(longest_step < longest_phase && longest_phase < most_work);

[[nodiscard]] inline Picoseconds phase_time(Seconds time) { return std::min(to_picoseconds(time), longest_phase); }

/// `count` times a phase, at most `limit`.
[[nodiscard]] inline Picoseconds repeated(Picoseconds time, std::int64_t count, Picoseconds limit = longest_phase) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(time.value(), count, &product)) return limit;
  return std::min(Picoseconds(product), limit);
}

/// Adds a phase to a sum of phases that are one.
inline void add_phase(Picoseconds& sum, Picoseconds time) { sum = std::min(sum + time, longest_phase); }

}  // namespace plumbline
