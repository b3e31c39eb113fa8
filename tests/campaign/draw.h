#pragma once
/// \file draw.h: random choices of one case of a campaign: the same on every machine for the same seed and case.
///
/// Draw at most once between two sequence points: the order in which arguments and operands are evaluated is the
/// compiler's.

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace plumbline {

class Draw {
 public:
  /// Cases of one seed are independent of each other, so that any of them can be drawn alone.
  Draw(std::uint64_t seed, std::uint64_t index) : bits_(mixed(mixed(seed) + index)) {}

  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// Small numbers far more often than large ones.
  [[nodiscard]] std::int64_t small(std::int64_t low, std::int64_t high) { return between(low, between(low, high)); }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<std::int64_t>(choices.size()) - 1));
  }
  /// From `least` to `most`, every order of magnitude as often, in steps of a hundredth of `least`.
  [[nodiscard]] double factor(double least, double most) {
    const double share = static_cast<double>(bits_() >> 11) * 0x1p-53;
    return least * std::round(100 * std::exp(share * std::log(most / least))) / 100;
  }

 private:
  /// Source: Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
  static std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::mt19937_64 bits_;
};

/// All divisors, ascending.
[[nodiscard]] inline std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= n; ++d)
    if (n % d == 0) result.push_back(d);
  return result;
}

}  // namespace plumbline
