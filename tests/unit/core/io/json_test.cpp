#include "core/io/json.h"

#include <limits>

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("what is written reads back to the same bytes") {
  const std::string text = "{\n  \"b\": [\n    1,\n    2.5,\n    \"x\\\"\\n\"\n  ],\n  \"a\": {},\n  \"c\": []\n}\n";
  CHECK(to_json_text(parse_json(text, "x")) == text);
}

TEST_CASE("keys keep their order and one line holds everything when there is no indent") {
  CHECK(to_json_text(parse_json("{ \"z\" : 1 , \"a\" : [ true , null ] }", "x"), -1) ==
        "{\"z\":1,\"a\":[true,null]}\n");
}

TEST_CASE("doubles are written in the shortest form that reads back to the same value") {
  for (const double value : {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.0, 1e15, 2.5e-7}) {
    const std::string text = to_json_text(Json(value), -1);
    INFO(text);
    const Json back = parse_json(text, "x");
    REQUIRE(back.if_double() != nullptr);
    CHECK(*back.if_double() == value);
  }
  CHECK(to_json_text(Json(0.1), -1) == "0.1\n");
  CHECK(to_json_text(Json(2.0), -1) == "2.0\n");
}

TEST_CASE("what JSON has no word for is written as null") {
  CHECK(to_json_text(Json(std::numeric_limits<double>::infinity()), -1) == "null\n");
  CHECK(to_json_text(Json(std::numeric_limits<double>::quiet_NaN()), -1) == "null\n");
}

TEST_CASE("text that is not UTF-8 is written as valid JSON all the same") {
  CHECK_NOTHROW(parse_json(to_json_text(Json(std::string("a\xff"
                                                         "b"))),
                           "x"));
}

TEST_CASE("places know the way to themselves") {
  const Json document = parse_json(R"({"levels": [{"rate": "1 GB/s"}, {"rate": 5}]})", "m.json");
  JsonObject root(JsonPlace(document, "m.json"));
  const std::vector<JsonPlace> levels = root.at("levels").elements();
  REQUIRE(levels.size() == 2);
  CHECK(levels[1].where() == "m.json:/levels/1");
  CHECK_NOTHROW(root.finish());
  CHECK(JsonObject(levels[1]).at("rate").integer(0, 9) == 5);
}

TEST_CASE("an optional member that is null counts as absent") {
  const Json document = parse_json(R"({"window": null})", "m.json");
  JsonObject root(JsonPlace(document, "m.json"));
  CHECK(root.has("window"));
  CHECK_FALSE(root.find("window"));
  CHECK_NOTHROW(root.finish());
}

}  // namespace
}  // namespace plumbline
