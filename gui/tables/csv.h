#pragma once
/// \file csv.h: a table as comma-separated values (RFC 4180) for other programs.
///
/// The header holds each column's id with its unit in brackets: "step_time [s]". Numbers are plain: a point, no
/// grouping, signs or units; those with an interval are three columns, "step_time_low [s]", "step_time [s]" and
/// "step_time_high [s]". Words are as they are shown.
/// Checked against: tests/gui/tables/csv_test.cpp.

#include <string>

#include "planner/present/table.h"

namespace plumbline::gui {

[[nodiscard]] std::string csv_text(const present::Table& table);

}  // namespace plumbline::gui
