#pragma once
/// \file quantity.h: bytes, FLOPs, seconds, money and energy as types, with only the operators that mean something.
///
/// One base unit each: byte, floating-point operation (a multiply-add is two), second, US dollar, joule.
/// `Bytes` is an exact integer; `Flops` is a double because one step of a 10^12-parameter model exceeds 2^64.
/// `Picoseconds` is the integer time in which a search compares and sums, so that one binary gives the same
/// answer on any machine and thread count.

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

namespace plumbline {

/// A number of `Tag` units held in `Rep`. Same-unit sums, scaling by plain numbers and plain ratios; nothing else.
template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  /// The number of base units.
  [[nodiscard]] constexpr Rep value() const { return value_; }
  [[nodiscard]] static constexpr Quantity largest() { return Quantity(std::numeric_limits<Rep>::max()); }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return Quantity(factor * a.value_); }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.value_ / divisor); }
  /// How many times `b` is contained in `a`.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flops = Quantity<struct FlopsTag, double>;
using Seconds = Quantity<struct SecondsTag, double>;
using Picoseconds = Quantity<struct PicosecondsTag, std::int64_t>;
using Dollars = Quantity<struct DollarsTag, double>;
using Joules = Quantity<struct JoulesTag, double>;
using Watts = Quantity<struct WattsTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag, double>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return Seconds(static_cast<double>(amount.value()) / rate.value());
}
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return Seconds(work.value() / rate.value()); }
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return BytesPerSecond(static_cast<double>(amount.value()) / time.value());
}
constexpr FlopsPerSecond operator/(Flops work, Seconds time) { return FlopsPerSecond(work.value() / time.value()); }
constexpr Joules operator*(Watts power, Seconds time) { return Joules(power.value() * time.value()); }

inline constexpr double seconds_per_hour = 3600;
inline constexpr double seconds_per_day = 86'400;
inline constexpr double joules_per_kwh = 3.6e6;

/// Nearest whole picosecond; times beyond the integer's range (106 days) saturate.
[[nodiscard]] inline Picoseconds to_picoseconds(Seconds time) {
  const double picoseconds = time.value() * 1e12;
  constexpr double limit = 9.0e18;  // just inside the 64-bit range
  if (!(picoseconds < limit)) return Picoseconds(static_cast<std::int64_t>(limit));
  return Picoseconds(std::llround(picoseconds));
}
[[nodiscard]] constexpr Seconds to_seconds(Picoseconds time) {
  return Seconds(static_cast<double>(time.value()) * 1e-12);
}

constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 30); }
constexpr Bytes operator""_GB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) * 1'000'000'000); }

}  // namespace plumbline
