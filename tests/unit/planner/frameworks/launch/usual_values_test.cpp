// Values of keys that say no more than a framework does anyway.

#include "planner/frameworks/launch/usual_values.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("what is usual, off or left to the script is taken out") {
  const Json tree =
      parse_json(R"({"a":{"size":5e8,"other":3,"flag":"false","way":"BACKWARD_PRE"},"b":{"enabled":false,"c":1},)"
                 R"("d":{"device":"none"},"e":"auto","kept":{"enabled":false},"f":1})",
                 "test");
  const std::vector<UsualValue> usual{
      {"a.size", 500'000'000}, {"a.other", 4}, {"a.flag", 0}, {"a.way", 0, "BACKWARD_PRE"}, {"f", 0}};
  std::int64_t count = 0;
  CHECK(to_json_text(without_usual_values(tree, usual, {"kept"}, count), -1) ==
        "{\"a\":{\"other\":3},\"kept\":{\"enabled\":false},\"f\":1}\n");
  CHECK(count == 5);  // size, flag, way, b, d
}

}  // namespace
}  // namespace plumbline
