#pragma once
/// \file whole_table.h: what must hold of every table that is presented.

#include <algorithm>
#include <set>
#include <string>

#include "planner/present/table.h"
#include "tests/catch.h"

namespace plumbline::present {

/// Every column has an id of its own, a title and an explanation, every row a cell for each, and numbers where the
/// unit says that there are some.
inline void check_whole(const Table& table) {
  REQUIRE(!table.columns.empty());
  std::set<std::string> ids;
  for (const Column& column : table.columns) {
    INFO(column.id);
    CHECK(!column.id.empty());
    CHECK(ids.insert(column.id).second);
    CHECK(!column.title.empty());
    CHECK(!column.explanation.empty());
    CHECK(!unit_text(column.unit).empty());
  }
  for (const std::vector<Cell>& row : table.rows) {
    REQUIRE(row.size() == table.columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      INFO(table.columns[i].id);
      const bool has_number = row[i].number.has_value() || row[i].text.empty();
      CHECK((table.columns[i].unit == Unit::text || has_number));
    }
  }
}

/// The cell of a row in the column of this id.
inline Cell cell(const Table& table, std::size_t row, const std::string& id) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& column) { return column.id == id; });
  REQUIRE(found != table.columns.end());
  return table.rows.at(row).at(static_cast<std::size_t>(found - table.columns.begin()));
}

inline std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> all;
  for (const Column& column : table.columns) all.push_back(column.title);
  return all;
}

}  // namespace plumbline::present
