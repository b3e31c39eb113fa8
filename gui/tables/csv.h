#pragma once
/// \file csv.h: a table as comma-separated values (RFC 4180): titles with units, then the texts that are shown.
///
/// Checked against: tests/gui/tables/csv_test.cpp.

#include <string>

#include "planner/present/table.h"

namespace plumbline::gui {

[[nodiscard]] std::string csv_text(const present::Table& table);

}  // namespace plumbline::gui
