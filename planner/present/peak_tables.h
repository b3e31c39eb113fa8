#pragma once
/// \file peak_tables.h: what fills a rank's memory at the peak of a simulated step.
///
/// Checked against: tests/unit/planner/present/result_tables_test.cpp.

#include <string>
#include <vector>

#include "core/simulate/stage_report.h"
#include "planner/present/table.h"

namespace plumbline::present {

[[nodiscard]] Table peak_class_table(const MemoryBreakdown& memory);
inline constexpr std::size_t usual_families = 6;
/// The largest of the buffers that come and go, alike ones together; no rows where all are persistent.
[[nodiscard]] Table largest_buffer_table(std::vector<Buffer> alive, std::size_t most = usual_families);

/// "0-3 7" for 0, 1, 2, 3, 7.
[[nodiscard]] std::string ranges_text(const std::vector<std::int32_t>& ascending);

}  // namespace plumbline::present
