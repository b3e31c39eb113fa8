#pragma once
/// \file row_filter.h: whether a row of a table holds what somebody typed to find it.
///
/// Checked against: tests/gui/tables/table_model_test.cpp.

#include <QString>
#include <vector>

#include "planner/present/table.h"

namespace plumbline::gui {

/// `word`: a part of a cell's text, or TITLE=N, TITLE<N, TITLE<=N, TITLE>N, TITLE>=N of a column with numbers.
[[nodiscard]] bool holds(const present::Table& table, const std::vector<present::Cell>& row, const QString& word);

}  // namespace plumbline::gui
