#include "planner/frameworks/syntax/script_template.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a text takes the place of a name, and is not looked at again") {
  CHECK(filled_script("a = PLUMBLINE_A(PLUMBLINE_AB)\n", {{"PLUMBLINE_A", "PLUMBLINE_AB"}, {"PLUMBLINE_AB", "1"}}) ==
        "a = PLUMBLINE_AB(1)\n");
  CHECK(filled_script("# PLUMBLINE_A: x\n", {{"PLUMBLINE_A", "y  # plumbline: end"}}) == "# y  # plumbline: end: x\n");
}

TEST_CASE("lines take the place of a line, as deep as it is") {
  const char* const script = "def f():\n    pass  # plumbline: body\n";
  CHECK(filled_script(script, {{"body", "if x:\n    y()\n\nz()"}}) == "def f():\n    if x:\n        y()\n\n    z()\n");
  CHECK(filled_script(script, {{"body", ""}}) == "def f():\n");
}

TEST_CASE("a line or a block is kept where the plan has it") {
  const char* const script =
      "import a  # of b  # plumbline: if a\n"
      "# plumbline: if two\n"
      "x = 2\n"
      "y = PLUMBLINE_Y  # plumbline: if a\n"
      "# plumbline: else\n"
      "x = 1\n"
      "# plumbline: end\n"
      "print(x)  # plumbline: if not a\n";
  const auto with = [script](bool a, bool two) {
    return filled_script(script, {{"a", a}, {"two", two}, {"PLUMBLINE_Y", "3"}});
  };
  CHECK(with(true, true) == "import a  # of b\nx = 2\ny = 3\n");
  CHECK(with(true, false) == "import a  # of b\nx = 1\n");
  CHECK(with(false, true) == "x = 2\nprint(x)\n");
}

TEST_CASE("a line for readers of the template is not exported") {
  CHECK(filled_script("## Why.\nx = 1\n    ## Why.\n", {}) == "x = 1\n");
}

TEST_CASE("each place has a filling, and each filling a place") {
  CHECK_THROWS_AS(filled_script("x = PLUMBLINE_X\n", {}), InternalError);
  CHECK_THROWS_AS(filled_script("x  # plumbline: x\n", {}), InternalError);
  CHECK_THROWS_AS(filled_script("x  # plumbline: if x\n", {}), InternalError);
  CHECK_THROWS_AS(filled_script("x\n", {{"x", true}}), InternalError);
  CHECK_THROWS_AS(filled_script("x  # plumbline: if x\n", {{"x", "a text"}}), InternalError);
}

TEST_CASE("each block of a template has a begin and an end") {
  CHECK_THROWS_AS(filled_script("# plumbline: if x\n", {{"x", true}}), InternalError);
  CHECK_THROWS_AS(filled_script("# plumbline: else\n", {}), InternalError);
  CHECK_THROWS_AS(filled_script("# plumbline: end\n", {}), InternalError);
}

TEST_CASE("a template is found by its path") {
  CHECK(script_template("launch/templates/rate_factor").find("def rate_factor(") != std::string_view::npos);
  CHECK_THROWS_AS(script_template("launch/templates/none"), InternalError);
}

}  // namespace
}  // namespace plumbline
