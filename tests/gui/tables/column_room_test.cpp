#include "gui/tables/column_room.h"

#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

using present::Align;
using present::Keep;
using present::Unit;

/// Three columns that may leave, two of them where all rows say the same, and two that stay.
present::Table table() {
  present::Table table;
  table.columns = {{"place", "#", Unit::number, ""},
                   {"sp", "sp", Unit::text, "", Align::left, Keep::unless_constant},
                   {"zero", "zero", Unit::text, "", Align::left, Keep::unless_constant},
                   {"mfu", "MFU%", Unit::per_cent, "", Align::right, Keep::always, 2},
                   {"tokens", "tok/s", Unit::number, "", Align::right, Keep::always, 1},
                   {"step", "step s", Unit::seconds, ""}};
  for (int row = 0; row < 2; ++row)
    table.rows.push_back({present::whole(row + 1), present::words("on"), present::words(row == 0 ? "1" : "2"),
                          present::whole(50 - row), present::whole(1000), present::whole(60)});
  return table;
}

const std::vector<int> tens{10, 10, 10, 10, 10, 10};

}  // namespace

TEST_CASE("nothing leaves where there is room") {
  const ColumnsLeft left = columns_without_room(table(), tens, 60);
  CHECK(left.columns.empty());
  CHECK(room_words(left).empty());
}

TEST_CASE("what all rows say alike leaves first, then what has a place in the order, and both are said") {
  CHECK(columns_without_room(table(), tens, 59).columns == std::vector<int>{1});
  CHECK(columns_without_room(table(), tens, 49).columns == std::vector<int>{1, 4});
  const ColumnsLeft left = columns_without_room(table(), tens, 39);
  CHECK(left.columns == std::vector<int>{1, 3, 4});
  CHECK(room_words(left) == "in all rows: sp on; no room for: tok/s, MFU%");
}

TEST_CASE("what may not leave stays however little room there is") {
  CHECK(columns_without_room(table(), tens, 0).columns == std::vector<int>{1, 3, 4});
  present::Table none = table();
  none.rows.clear();
  CHECK(columns_without_room(none, tens, 0).columns == std::vector<int>{3, 4});
}

}  // namespace plumbline::gui
