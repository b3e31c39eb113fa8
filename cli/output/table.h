#pragma once
/// \file table.h: text tables that fit the terminal: columns aligned, those that say nothing left out when it is tight.

#include <string>
#include <vector>

#include "planner/present/table.h"

namespace plumbline {

using present::Align;
/// When a table is too wide, columns whose cells are all equal leave it first, the last of these first.
using present::Keep;

struct Column {
  std::string header;
  Align align = Align::right;
  Keep keep = Keep::always;
  int drop_order = 0;  ///< where the table is still too wide, 1 leaves first; 0: it never leaves
};

struct RenderedTable {
  std::vector<std::string> lines;        ///< header first; texts that are too long are cut
  std::vector<std::string> in_all_rows;  ///< "header value" of each column that left, its cells all equal
  std::vector<std::string> left_out;     ///< headers of other columns for which there was no room
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Titles and texts of the cells.
  explicit Table(const present::Table& table);
  /// Cells are made printable: they may hold names of foreign files.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] RenderedTable render(std::size_t columns) const;
  /// All lines with their ends.
  [[nodiscard]] std::string text(std::size_t columns) const;

 private:
  void fit_widths(std::vector<std::size_t>& widths, const std::vector<std::size_t>& shown, std::size_t columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A table as text of `terminal_columns()` (cli/output/terminal.h).
[[nodiscard]] std::string text(const present::Table& table);
/// The same, its first column two blanks to the right.
[[nodiscard]] std::string indented_text(present::Table table);

/// Words wrapped at `columns`, every line after the first begun with `indent` spaces; the first starts at `begin`.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent,
                                  std::size_t begin = 0);

}  // namespace plumbline
