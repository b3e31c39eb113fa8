#pragma once
/// \file column_room.h: which columns of a table have no room in a view, by the rules of the terminal's tables.
///
/// Checked against: tests/gui/tables/column_room_test.cpp.

#include <string>
#include <vector>

#include "planner/present/table.h"

namespace plumbline::gui {

struct ColumnsLeft {
  std::vector<int> columns;              ///< ascending
  std::vector<std::string> in_all_rows;  ///< "sp on": of those that left because all rows say the same
  std::vector<std::string> left_out;     ///< titles of the others
};

/// `widths` and `room` in pixels. First those leave, from the right, whose cells are all equal, where they may; then
/// those with a place in the order of leaving.
[[nodiscard]] ColumnsLeft columns_without_room(const present::Table& table, const std::vector<int>& widths, int room);

/// "in all rows: sp on, zero 1; no room: tok/s/GPU"; empty: all columns are there.
[[nodiscard]] std::string room_words(const ColumnsLeft& left);

}  // namespace plumbline::gui
