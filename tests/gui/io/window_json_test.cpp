#include "gui/io/window_json.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {
namespace {

WindowState read(const std::string& text) { return window_state_from_json(JsonPlace(parse_json(text, "s"), "s:")); }

}  // namespace

TEST_CASE("a session is read back as it was written") {
  const WindowState state{small_form(), "plans"};
  const WindowState again = read(to_json_text(to_json(state)));
  CHECK(again.form == state.form);
  CHECK(again.page == "plans");
}

TEST_CASE("edited numbers of the cluster are in the session") {
  WindowState state{small_form(), "plans"};
  state.form.machine_edits = {{"/cluster/nodes/0/device/memory", "40 GiB", "", ""},
                              {"/cluster/nodes/0/device/power", "500 W", "own meter", "measured"}};
  CHECK(read(to_json_text(to_json(state))).form == state.form);
  CHECK_THROWS_AS(read(R"({"format":"plumbline.window/1","question":{},"cluster_numbers":[{"value":"1 GiB"}]})"),
                  InputError);
}

TEST_CASE("a session with an unknown field or of another format is refused where it stands") {
  CHECK_THROWS_WITH(read(R"({"format":"plumbline.window/1","question":{"modle":"gpt2"}})"),
                    Catch::Matchers::ContainsSubstring("modle") && Catch::Matchers::ContainsSubstring("model"));
  CHECK_THROWS_AS(read(R"({"format":"plumbline.window/2","question":{}})"), InputError);
  CHECK_THROWS_AS(read(R"({"format":"plumbline.window/1","question":{"model":7}})"), InputError);
}

}  // namespace plumbline::gui
