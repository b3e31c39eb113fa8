#include "core/quantity/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "core/base/errors.h"

namespace plumbline {
namespace {

struct Unit {
  std::string_view name;
  double scale;  // base units per unit
};

constexpr std::array byte_units{Unit{"B", 1},
                                Unit{"KB", 1e3},
                                Unit{"kB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"PB", 1e15},
                                Unit{"KiB", 1024.},
                                Unit{"MiB", 1048576.},
                                Unit{"GiB", 1073741824.},
                                Unit{"TiB", 1099511627776.}};
constexpr std::array bandwidth_units{Unit{"B/s", 1},        Unit{"KB/s", 1e3},     Unit{"MB/s", 1e6},
                                     Unit{"GB/s", 1e9},     Unit{"TB/s", 1e12},    Unit{"GiB/s", 1073741824.},
                                     Unit{"Mb/s", 1e6 / 8}, Unit{"Gb/s", 1e9 / 8}, Unit{"Tb/s", 1e12 / 8}};
constexpr std::array flop_rate_units{Unit{"FLOP/s", 1}, Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12},
                                     Unit{"PFLOP/s", 1e15}};
constexpr std::array duration_units{Unit{"s", 1},    Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9},
                                    Unit{"min", 60}, Unit{"h", 3600},  Unit{"d", 86400}};
constexpr std::array power_units{Unit{"W", 1}, Unit{"kW", 1e3}, Unit{"MW", 1e6}};
constexpr std::array count_units{Unit{"", 1},    Unit{"K", 1e3}, Unit{"k", 1e3}, Unit{"M", 1e6},
                                 Unit{"B", 1e9}, Unit{"G", 1e9}, Unit{"T", 1e12}};

std::string unit_names(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units)
    if (!unit.name.empty()) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

[[noreturn]] void refuse(std::string_view text, std::string_view where, std::span<const Unit> units,
                         std::string_view what) {
  std::string shown(text.substr(0, 40));
  throw InputError({std::string(where), "\"" + shown + "\" " + std::string(what),
                    "a number followed by one of " + unit_names(units), ""});
}

/// The value in base units, in [0, limit].
double parse_with_unit(std::string_view text, std::string_view where, std::span<const Unit> units, double limit) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) refuse(text, where, units, "is out of range");
  if (error != std::errc{}) refuse(text, where, units, "is not a number with a unit");
  std::string_view unit_text(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!unit_text.empty() && unit_text.front() == ' ') unit_text.remove_prefix(1);
  for (const Unit& unit : units) {
    if (unit.name != unit_text) continue;
    const double value = number * unit.scale;
    if (!std::isfinite(value) || value < 0 || value > limit) refuse(text, where, units, "is out of range");
    return value;
  }
  refuse(text, where, units, unit_text.empty() ? "has no unit" : "has an unknown unit");
}

constexpr double largest_exact_integer = 9.0e18;

std::string with_prefix(double value, std::span<const Unit> units) {
  const Unit* chosen = units.data();
  for (const Unit& unit : units)
    if (std::fabs(value) >= unit.scale) chosen = &unit;
  const double scaled = value / chosen->scale;
  const int digits = std::fabs(scaled) >= 100 ? 0 : std::fabs(scaled) >= 10 ? 1 : 2;
  return fixed(scaled, digits) + " " + std::string(chosen->name);
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view where) {
  return Bytes(std::llround(parse_with_unit(text, where, byte_units, largest_exact_integer)));
}
BytesPerSecond parse_bandwidth(std::string_view text, std::string_view where) {
  return BytesPerSecond(parse_with_unit(text, where, bandwidth_units, 1e18));
}
FlopsPerSecond parse_flop_rate(std::string_view text, std::string_view where) {
  return FlopsPerSecond(parse_with_unit(text, where, flop_rate_units, 1e21));
}
Seconds parse_duration(std::string_view text, std::string_view where) {
  return Seconds(parse_with_unit(text, where, duration_units, 1e12));
}
Watts parse_power(std::string_view text, std::string_view where) {
  return Watts(parse_with_unit(text, where, power_units, 1e9));
}

std::int64_t parse_count(std::string_view text, std::string_view where) {
  const double value = parse_with_unit(text, where, count_units, largest_exact_integer);
  if (value < 1 || value != std::floor(value)) refuse(text, where, count_units, "is not a positive whole number");
  return static_cast<std::int64_t>(value);
}

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  if (error != std::errc{}) return "out of range";
  return std::string(buffer.data(), end);
}

std::string to_text(Bytes amount) {
  static constexpr std::array units{Unit{"B", 1}, Unit{"KiB", 1024.}, Unit{"MiB", 1048576.}, Unit{"GiB", 1073741824.},
                                    Unit{"TiB", 1099511627776.}};
  return with_prefix(static_cast<double>(amount.value()), units);
}
std::string to_text(BytesPerSecond rate) {
  static constexpr std::array units{Unit{"B/s", 1}, Unit{"KB/s", 1e3}, Unit{"MB/s", 1e6}, Unit{"GB/s", 1e9},
                                    Unit{"TB/s", 1e12}};
  return with_prefix(rate.value(), units);
}
std::string to_text(FlopsPerSecond rate) { return with_prefix(rate.value(), flop_rate_units); }
std::string to_text(Seconds time) {
  static constexpr std::array units{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};
  return with_prefix(time.value(), units);
}
std::string to_text(Flops work) {
  static constexpr std::array units{Unit{"FLOP", 1}, Unit{"GFLOP", 1e9}, Unit{"TFLOP", 1e12}, Unit{"PFLOP", 1e15},
                                    Unit{"EFLOP", 1e18}};
  return with_prefix(work.value(), units);
}

std::string grouped(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (count < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ' ');
  return digits;
}

std::string count_text(std::int64_t count) {
  static constexpr std::array units{Unit{"", 1}, Unit{"K", 1e3}, Unit{"M", 1e6}, Unit{"B", 1e9}, Unit{"T", 1e12}};
  return with_prefix(static_cast<double>(count), units);
}

}  // namespace plumbline
