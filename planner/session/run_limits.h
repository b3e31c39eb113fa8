#pragma once
/// \file run_limits.h: what a whole run may take: days and dollars.
///
/// Checked against: tests/integration/size_test.py.

#include <optional>
#include <string>

#include "core/quantity/quantity.h"

namespace plumbline::session {

/// Far beyond what exists, so that only mistakes are refused: a century, the world's yearly product.
inline constexpr double least_days = 0.001;
inline constexpr double most_days = 36'525;
inline constexpr double least_dollars = 1;
inline constexpr double most_dollars = 1e14;

/// Of the whole run; absent: no limit.
struct RunLimits {
  std::optional<double> days;
  std::optional<Dollars> budget;
  [[nodiscard]] bool any() const { return days || budget; }
};

/// Of the texts of --days and --budget. Throws InputError naming the flag.
[[nodiscard]] RunLimits run_limits(const std::optional<std::string>& days, const std::optional<std::string>& budget);

}  // namespace plumbline::session
