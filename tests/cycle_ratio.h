#pragma once
/// \file cycle_ratio.h: the largest mean weight of a cycle of a small dense graph, as an exact fraction.
///
/// Answers: the largest weight per arc over all cycles; integers in, a fraction in lowest terms out.
/// Model: `weights[u][v]` is the arc from u to v, `unreachable` when there is none.
/// Source: Karp, "A characterization of the minimum cycle mean in a digraph", 1978. O(n^3).
/// Not modelled: overflow; n times the largest weight must stay below 2^62.
/// Checked against: tests/property/order_makespan_test.cpp (every simple cycle of small random graphs), exact.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace plumbline {

inline constexpr std::int64_t unreachable = std::numeric_limits<std::int64_t>::min();

struct CycleRatio {
  std::int64_t total = 0;
  std::int64_t arcs = 1;
};

using WeightRow = std::vector<std::int64_t>;

/// walks[k][v]: the heaviest walk of k arcs that ends in v, from anywhere.
inline std::vector<WeightRow> heaviest_walks(const std::vector<WeightRow>& weights) {
  const std::size_t n = weights.size();
  std::vector<WeightRow> walks(n + 1, WeightRow(n, unreachable));
  walks[0].assign(n, 0);
  for (std::size_t k = 1; k <= n; ++k)
    for (std::size_t u = 0; u < n; ++u) {
      if (walks[k - 1][u] == unreachable) continue;
      for (std::size_t v = 0; v < n; ++v)
        if (weights[u][v] != unreachable) walks[k][v] = std::max(walks[k][v], walks[k - 1][u] + weights[u][v]);
    }
  return walks;
}

/// a / b < c / d for positive b and d, without overflow.
inline bool is_smaller_fraction(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  const auto floor_of = [](std::int64_t x, std::int64_t y) { return x / y - (x % y < 0 ? 1 : 0); };
  while (true) {
    const std::int64_t whole_a = floor_of(a, b);
    const std::int64_t whole_c = floor_of(c, d);
    if (whole_a != whole_c) return whole_a < whole_c;
    const std::int64_t rest_a = a - whole_a * b;
    const std::int64_t rest_c = c - whole_c * d;
    if (rest_a == 0 || rest_c == 0) return rest_a == 0 && rest_c != 0;
    // rest_a / b < rest_c / d exactly when d / rest_c < b / rest_a.
    a = d;
    c = b;
    b = rest_c;
    d = rest_a;
  }
}

inline bool is_smaller(const CycleRatio& a, const CycleRatio& b) {
  return is_smaller_fraction(a.total, a.arcs, b.total, b.arcs);
}

/// Requires a cycle, and no negative total.
inline CycleRatio largest_cycle_mean(const std::vector<WeightRow>& weights) {
  const std::size_t n = weights.size();
  const std::vector<WeightRow> walks = heaviest_walks(weights);
  std::optional<CycleRatio> best;
  for (std::size_t v = 0; v < n; ++v) {
    if (walks[n][v] == unreachable) continue;
    std::optional<CycleRatio> least;
    for (std::size_t k = 0; k < n; ++k) {
      if (walks[k][v] == unreachable) continue;
      const CycleRatio ratio{walks[n][v] - walks[k][v], static_cast<std::int64_t>(n - k)};
      if (!least || is_smaller(ratio, *least)) least = ratio;
    }
    if (least && (!best || is_smaller(*best, *least))) best = least;
  }
  const CycleRatio found = best.value_or(CycleRatio{});
  const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(found.total, found.arcs));
  return {found.total / divisor, found.arcs / divisor};
}

}  // namespace plumbline
