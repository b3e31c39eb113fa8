#pragma once
/// \file front.h: which points of a set no other point dominates; every coordinate is to be small.
///
/// Model: a dominates b when no coordinate of a is larger; of equal points the first stays. Integers only, so that the
/// answer is the same everywhere. Points are visited in lexicographic order, in which nothing later dominates anything
/// earlier, so that each is compared with the front alone, and there without the first coordinate. Of two coordinates
/// the latest member decides; of three the others of the front are stairs, found by bisection: O(n log n); of more the
/// whole front is looked through: O(n (log n + front)).
/// Source: Kung, Luccio, Preparata, J. ACM 22 (1975), the sorted sweep.
/// Checked against: tests/reference/oracles/pareto_oracles_test.cpp (fronts by definition and by archive, exact).

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
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

/// The least second coordinate of all points whose first is at most so large.
class Stairs {
 public:
  [[nodiscard]] bool dominate(std::int64_t first, std::int64_t second) const {
    const auto above = least_.upper_bound(first);
    return above != least_.begin() && std::prev(above)->second <= second;
  }
  /// A point that they do not dominate.
  void add(std::int64_t first, std::int64_t second) {
    auto above = least_.lower_bound(first);
    while (above != least_.end() && above->second >= second) above = least_.erase(above);
    least_.emplace_hint(above, first, second);
  }

 private:
  std::map<std::int64_t, std::int64_t> least_;  ///< falling
};

/// Indices of the front, in lexicographic order of its points.
template <std::size_t N>
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<ParetoPoint<N>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::size_t> front;
  [[maybe_unused]] Stairs stairs;
  for (const std::size_t candidate : order) {
    const ParetoPoint<N>& point = points[candidate];
    bool is_dominated = false;
    if constexpr (N == 2)
      is_dominated = !front.empty() && points[front.back()][1] <= point[1];
    else if constexpr (N == 3)
      is_dominated = stairs.dominate(point[1], point[2]);
    else
      is_dominated = std::any_of(front.rbegin(), front.rend(),
                                 [&](std::size_t member) { return dominates(points[member], point); });
    if (is_dominated) continue;
    if constexpr (N == 3) stairs.add(point[1], point[2]);
    front.push_back(candidate);
  }
  return front;
}

}  // namespace plumbline
