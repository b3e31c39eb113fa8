#pragma once
/// \file numbers.h: how numbers of plans are written, and cells of them.

#include "core/plan/estimate.h"
#include "core/quantity/quantity.h"
#include "planner/present/table.h"

namespace plumbline::present {

inline constexpr double bytes_per_mib = 1024. * 1024.;
inline constexpr double bytes_per_gib = 1024. * bytes_per_mib;

/// Without the unit.
[[nodiscard]] std::string gib_text(Bytes amount, int digits = 1);
[[nodiscard]] std::string per_cent_text(double fraction, int digits = 1);
/// "11.83 s (10.90 to 12.80)".
[[nodiscard]] std::string interval_text(const Interval& seconds);
/// "+3.2 %".
[[nodiscard]] std::string difference_text(double now, double before);
/// Dollars with thin grouping.
[[nodiscard]] std::string dollars_text(double dollars);
/// "pipeline bubble" for pipeline_bubble.
[[nodiscard]] std::string words_of(std::string_view name);

[[nodiscard]] Cell words(std::string_view text);
[[nodiscard]] Cell whole(std::int64_t count);
/// With thin grouping.
[[nodiscard]] Cell grouped_cell(std::int64_t count);
[[nodiscard]] Cell decimal(double value, int digits);
[[nodiscard]] Cell gib_cell(Bytes amount, int digits = 1);
[[nodiscard]] Cell per_cent_cell(double fraction, int digits = 1);
/// Of a column in per cent.
[[nodiscard]] Cell difference_cell(double now, double before);

}  // namespace plumbline::present
