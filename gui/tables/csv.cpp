#include "gui/tables/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace plumbline::gui {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

/// The shortest text that is read back as the number to nine digits, which hides what binary fractions add.
std::string plain(double number) {
  if (!std::isfinite(number)) return "";
  constexpr int digits = 9;
  std::array<char, 64> text{};
  const auto rounded =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, digits);
  double value = number;
  std::from_chars(text.data(), rounded.ptr, value);
  constexpr double largest_whole = 1e15;
  const bool is_whole = std::abs(number) < largest_whole && std::trunc(number) == number;
  const auto end = is_whole ? std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, 0)
                            : std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

/// Titles of numbers without a unit of their own that are one.
std::string_view unit_of(const present::Column& column) {
  if (column.unit != present::Unit::number) return present::unit_text(column.unit);
  if (column.title == "$") return "dollars";
  return column.title == "MWh" || column.title == "t CO2" ? std::string_view(column.title) : std::string_view();
}

std::string header(const present::Column& column, std::string_view part) {
  const std::string_view unit = column.unit == present::Unit::text ? std::string_view() : unit_of(column);
  return column.id + std::string(part) + (unit.empty() ? "" : " [" + std::string(unit) + "]");
}

std::string value(const present::Column& column, const present::Cell& cell) {
  return column.unit != present::Unit::text && cell.number ? plain(*cell.number) : quoted(cell.text);
}

bool has_bounds(const present::Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const std::vector<present::Cell>& row) { return row[column].bounds.has_value(); });
}

void add_line(std::string& text, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cells[i];
  text += "\r\n";
}

}  // namespace

std::string csv_text(const present::Table& table) {
  std::string text;
  std::vector<std::string> line;
  std::vector<bool> intervals;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_interval = has_bounds(table, i);
    intervals.push_back(is_interval);
    if (is_interval) line.push_back(quoted(header(table.columns[i], "_low")));
    line.push_back(quoted(header(table.columns[i], "")));
    if (is_interval) line.push_back(quoted(header(table.columns[i], "_high")));
  }
  add_line(text, line);
  for (const std::vector<present::Cell>& row : table.rows) {
    line.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_interval = intervals[i];
      const std::optional<present::Bounds>& bounds = row[i].bounds;
      if (is_interval) line.push_back(bounds ? plain(bounds->low) : "");
      line.push_back(value(table.columns[i], row[i]));
      if (is_interval) line.push_back(bounds ? plain(bounds->high) : "");
    }
    add_line(text, line);
  }
  return text;
}

}  // namespace plumbline::gui
