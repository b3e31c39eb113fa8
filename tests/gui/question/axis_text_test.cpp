#include "gui/question/axis_text.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("a constraint is a value, several, a range, or up to a value") {
  CHECK(axis_values("tp", "8") == "8");
  CHECK(axis_values("tp", "1, 2,4") == "1|2|4");
  CHECK(axis_values("tp", "1|2") == "1|2");
  CHECK(axis_values("pp", "2-4") == "2|3|4");
  CHECK(axis_values("pp", "<= 3") == "1|2|3");
  CHECK(axis_values("zero", "<=1,3") == "0|1|3");
}

TEST_CASE("what is no range is left to whoever reads the values") {
  CHECK(axis_values("schedule", "1f1b,zb-h1") == "1f1b|zb-h1");
  CHECK(axis_values("recompute", "every:2") == "every:2");
}

TEST_CASE("a range upside down or without end is refused") {
  CHECK_THROWS_AS(axis_values("tp", "8-2"), InputError);
  CHECK_THROWS_AS(axis_values("dp", "<=100000"), InputError);
  CHECK_THROWS_WITH(axis_values("tp", "8-2"), Catch::Matchers::ContainsSubstring("--fix tp: \"8-2\" is no range"));
}

}  // namespace plumbline::gui
