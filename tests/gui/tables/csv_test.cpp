#include "gui/tables/csv.h"

#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("cells with commas, quotes and line ends are quoted") {
  present::Table table;
  table.columns = {{"a", "a", present::Unit::text, ""}, {"b, in s", "b", present::Unit::text, ""}};
  table.rows = {{present::words("plain"), present::words("1,5")},
                {present::words("say \"so\""), present::words("x\ny")}};
  CHECK(csv_text(table) == "a,\"b, in s\"\r\nplain,\"1,5\"\r\n\"say \"\"so\"\"\",\"x\ny\"\r\n");
}

TEST_CASE("numbers are plain and have their units in the header, intervals are three columns") {
  using present::Unit;
  present::Table table;
  table.columns = {{"step_time", "step s (interval)", Unit::seconds, ""},
                   {"chance_to_fit", "fit%", Unit::per_cent, ""},
                   {"dollars", "$", Unit::number, ""},
                   {"tensor_parallel", "tp", Unit::number, ""},
                   {"schedule", "schedule", Unit::text, ""}};
  table.rows = {{{"64.24 (54.9-75.2)", 64.2256, present::Bounds{54.9, 75.25}},
                 {">99", 99.7},
                 {"$1 906 128", 1906128},
                 {"8", 8},
                 {"1f1b"}},
                {{"-"}, {"", std::nullopt}, {"", std::nullopt}, {"4", 4}, {"gpipe"}}};
  CHECK(csv_text(table) ==
        "step_time_low [s],step_time [s],step_time_high [s],chance_to_fit [%],dollars [dollars],tensor_parallel,"
        "schedule\r\n54.9,64.2256,75.25,99.7,1906128,8,1f1b\r\n,-,,,,4,gpipe\r\n");
}

}  // namespace plumbline::gui
