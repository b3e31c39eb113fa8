#pragma once
/// \file table.h: a table as data: what each column is called, measures and means, and a cell for each row.
///
/// A terminal and a window show the same columns and words from it: the terminal prints texts, a window sorts by
/// numbers, shows units alongside titles and explanations where the pointer rests.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::present {

enum class Align : std::uint8_t { left, right };
/// What a column of text says; numbers are aligned right.
inline constexpr Align left = Align::left;
/// Where there is too little room, columns whose cells are all equal may leave.
enum class Keep : std::uint8_t { always, unless_constant };

/// Of a cell's number. `text`: the cell is words alone.
enum class Unit : std::uint8_t {
  text,
  number,
  bytes,
  mebibytes,
  gibibytes,
  milliseconds,
  seconds,
  per_cent,
  tokens_per_second,
  samples_per_second,
  flops_per_second,
  bytes_per_second,
  dollars_per_hour,
};
/// "GiB", "s", "%"; "text" and "number" where there is none.
[[nodiscard]] std::string_view unit_text(Unit unit);

struct Column {
  std::string id;     ///< of the table's columns the only one so called: "tensor_parallel"
  std::string title;  ///< short: "tp"
  Unit unit = Unit::number;
  std::string explanation;  ///< a phrase: "tensor-parallel ranks"
  Align align = Align::right;
  Keep keep = Keep::always;
  int drop_order = 0;  ///< where there is still too little room, the column with 1 leaves first; 0: it never leaves
};

/// In which range nine of ten runs lie.
struct Bounds {
  double low = 0;
  double high = 0;
};

struct Cell {
  std::string text;
  std::optional<double> number = std::nullopt;  ///< in the column's unit, to sort and draw by
  std::optional<Bounds> bounds = std::nullopt;  ///< of the number, where the text says an interval
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< a cell for each column
};

enum class Shown : std::uint8_t { always, if_rows_differ };

/// A column and what it shows of a row.
template <class Row>
struct ColumnOf {
  Column column;
  std::function<Cell(const Row&)> cell;
  std::function<bool(const Row&)> matters = nullptr;  ///< given: shown only where it holds of some row
  Shown shown = Shown::always;
};

template <class Row>
[[nodiscard]] bool is_shown(const ColumnOf<Row>& column, const std::vector<Row>& rows) {
  if (column.matters != nullptr) return std::any_of(rows.begin(), rows.end(), column.matters);
  if (column.shown == Shown::always) return true;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return column.cell(row).text != column.cell(rows.front()).text; });
}

/// The columns that are worth showing of these rows.
template <class Row>
[[nodiscard]] Table table_of(const std::vector<ColumnOf<Row>>& columns, const std::vector<Row>& rows) {
  Table table;
  table.rows.resize(rows.size());
  for (const ColumnOf<Row>& column : columns) {
    if (!is_shown(column, rows)) continue;
    table.columns.push_back(column.column);
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back(column.cell(rows[i]));
  }
  return table;
}

}  // namespace plumbline::present
