#include "gui/tables/csv.h"

#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("cells with commas, quotes and line ends are quoted") {
  present::Table table;
  table.columns = {{"a", "a", present::Unit::text, ""}, {"b", "b, in s", present::Unit::text, ""}};
  table.rows = {{present::words("plain"), present::words("1,5")},
                {present::words("say \"so\""), present::words("x\ny")}};
  CHECK(csv_text(table) == "a,\"b, in s\"\r\nplain,\"1,5\"\r\n\"say \"\"so\"\"\",\"x\ny\"\r\n");
}

}  // namespace plumbline::gui
