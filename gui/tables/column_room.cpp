#include "gui/tables/column_room.h"

#include <algorithm>
#include <numeric>

namespace plumbline::gui {
namespace {

bool is_constant(const present::Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].text == table.rows.front()[column].text; });
}

/// Columns that may leave, the first to go first.
std::vector<std::size_t> leaving_order(const present::Table& table, bool (*may_leave)(const present::Column&)) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (may_leave(table.columns[c])) order.push_back(c);
  return order;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

ColumnsLeft columns_without_room(const present::Table& table, const std::vector<int>& widths, int room) {
  ColumnsLeft left;
  int used = std::accumulate(widths.begin(), widths.end(), 0);
  const auto leave = [&](std::size_t column) {
    used -= widths[column];
    left.columns.push_back(static_cast<int>(column));
  };
  std::vector<std::size_t> equal =
      leaving_order(table, [](const present::Column& c) { return c.keep == present::Keep::unless_constant; });
  std::reverse(equal.begin(), equal.end());
  for (const std::size_t column : equal) {
    if (used <= room || table.rows.empty()) break;
    if (!is_constant(table, column)) continue;
    leave(column);
    const std::string& text = table.rows.front()[column].text;
    left.in_all_rows.insert(left.in_all_rows.begin(), table.columns[column].title + (text.empty() ? "" : " " + text));
  }
  std::vector<std::size_t> others = leaving_order(table, [](const present::Column& c) { return c.drop_order > 0; });
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
    return table.columns[a].drop_order < table.columns[b].drop_order;
  });
  for (const std::size_t column : others) {
    if (used <= room) break;
    if (std::find(left.columns.begin(), left.columns.end(), static_cast<int>(column)) != left.columns.end()) continue;
    leave(column);
    left.left_out.push_back(table.columns[column].title);
  }
  std::sort(left.columns.begin(), left.columns.end());
  return left;
}

std::string room_words(const ColumnsLeft& left) {
  std::string words;
  if (!left.in_all_rows.empty()) words = "in all rows: " + listed(left.in_all_rows);
  if (!left.left_out.empty()) words += (words.empty() ? "no room for: " : "; no room for: ") + listed(left.left_out);
  return words;
}

}  // namespace plumbline::gui
