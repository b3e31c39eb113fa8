#pragma once
/// \file cycle_ratio.h: the largest mean weight of a cycle of a small dense graph, as an exact fraction.
///
/// Answers: the largest weight per arc over all cycles; integers in, a fraction in lowest terms out.
/// Model: `weights[u][v]` is the arc from u to v, `unreachable` when there is none.
/// Source: Karp, "A characterization of the minimum cycle mean in a digraph", 1978. O(n^3).
/// Not modelled: overflow; n times the largest weight must stay below 2^62.
/// Checked against: tests/property/order_makespan_test.cpp (every simple cycle of small random graphs), exact.

#include <cstdint>
#include <limits>
#include <vector>

namespace plumbline {

inline constexpr std::int64_t unreachable = std::numeric_limits<std::int64_t>::min();

struct CycleRatio {
  std::int64_t total = 0;
  std::int64_t arcs = 1;
};

/// a / b < c / d for positive b and d, without overflow.
[[nodiscard]] bool is_smaller_fraction(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d);

/// Requires a cycle, and no negative total.
[[nodiscard]] CycleRatio largest_cycle_mean(const std::vector<std::vector<std::int64_t>>& weights);

}  // namespace plumbline
