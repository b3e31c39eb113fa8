#pragma once
/// \file earliest.h: the earliest of a fixed number of times that change one by one: a tournament tree.
///
/// Answers: which one, the first of equals; O(1), and O(log n) for a change. Source: Knuth, TAOCP volume 3, 5.4.1.

#include <cstdint>
#include <limits>
#include <vector>

namespace plumbline {

class Earliest {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  explicit Earliest(std::size_t count) {
    while (leaves_ < count) leaves_ *= 2;
    times_.assign(2 * leaves_, never);
  }
  [[nodiscard]] std::int64_t time() const { return times_[1]; }
  [[nodiscard]] std::int64_t time(std::size_t index) const { return times_[leaves_ + index]; }
  [[nodiscard]] std::size_t index() const {
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (times_[2 * node] <= times_[2 * node + 1] ? 0 : 1);
    return node - leaves_;
  }
  void set(std::size_t index, std::int64_t time) {
    std::size_t node = leaves_ + index;
    times_[node] = time;
    while (node > 1) {
      node /= 2;
      const std::int64_t least = times_[2 * node] < times_[2 * node + 1] ? times_[2 * node] : times_[2 * node + 1];
      if (times_[node] == least) return;
      times_[node] = least;
    }
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<std::int64_t> times_;
};

}  // namespace plumbline
