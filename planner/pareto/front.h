#pragma once
/// \file front.h: which points of a set no other point dominates; every coordinate is to be small.
///
/// Model: a dominates b when no coordinate of a is larger; of equal points the first stays. Integers only, so that the
/// answer is the same everywhere. Points are visited in lexicographic order, in which nothing later dominates anything
/// earlier, so each is compared with the front alone: O(n (log n + front)).
/// Source: Kung, Luccio, Preparata, J. ACM 22 (1975), the sorted sweep.
/// Checked against: tests/reference/oracles/pareto_oracles_test.cpp (fronts by definition and by archive, exact).

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace plumbline {

template <std::size_t N>
using ParetoPoint = std::array<std::int64_t, N>;

template <std::size_t N>
[[nodiscard]] bool dominates(const ParetoPoint<N>& a, const ParetoPoint<N>& b) {
  for (std::size_t k = 0; k < N; ++k)
    if (a[k] > b[k]) return false;
  return true;
}

/// Indices of the front, in lexicographic order of its points.
template <std::size_t N>
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<ParetoPoint<N>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::size_t> front;
  for (const std::size_t candidate : order) {
    // The latest member is the likeliest to dominate; in two dimensions no other can.
    const auto by = std::find_if(front.rbegin(), front.rend(),
                                 [&](std::size_t member) { return dominates(points[member], points[candidate]); });
    if (by == front.rend()) front.push_back(candidate);
  }
  return front;
}

}  // namespace plumbline
