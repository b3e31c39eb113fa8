// Where two JSON values differ first.

#include "core/io/json_difference.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

std::string difference(std::string_view found, std::string_view expected) {
  const auto first = json_difference(parse_json(found, "found"), parse_json(expected, "expected"));
  return first ? first->path + ": " + first->found + "; " + first->expected : "equal";
}

TEST_CASE("values that say the same are equal, whatever the order of their members") {
  CHECK(difference(R"({"a": 1, "b": [true, null, "x"]})", R"({"b": [true, null, "x"], "a": 1.0})") == "equal");
}

TEST_CASE("the first difference is named with its path") {
  CHECK(difference(R"({"a": [{"n": 64}]})", R"({"a": [{"n": 128}]})") == "/a/0/n: 64; 128");
  CHECK(difference(R"({"a": [1, 2]})", R"({"a": [1, 2, 3]})") == "/a: a list of 2; a list of 3");
  CHECK(difference(R"({})", R"({"a": "x"})") == "/a: is missing; \"x\"");
  CHECK(difference(R"({"a": {}})", R"({})") == "/a: an object; no such key");
  CHECK(difference(R"({"a": "1"})", R"({"a": 1})") == "/a: \"1\"; 1");
  CHECK(difference(R"({"a": [1, 2]})", R"({"a": null})") == "/a: [1,2]; null");
}

TEST_CASE("whole numbers beyond those of a double are compared digit by digit") {
  CHECK(difference("9007199254740993", "9007199254740992") == ": 9007199254740993; 9007199254740992");
}

}  // namespace
}  // namespace plumbline
