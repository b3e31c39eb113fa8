// Text of unknown origin inside of other languages.

#include "planner/frameworks/syntax/quoting.h"

#include "planner/frameworks/syntax/python_calls.h"
#include "planner/frameworks/syntax/toml.h"
#include "planner/frameworks/syntax/yaml.h"
#include "tests/catch.h"

namespace plumbline::quoting_test {
namespace {

const std::vector<std::string>& hostile() {
  static const std::vector<std::string> texts{"two\nlines",
                                              "quote\"; import os #",
                                              "it's",
                                              "'''\"\"\"",
                                              "back\\slash\\",
                                              "=__import__('os').system('id')",
                                              "$(id) `id` ${HOME}",
                                              "a: b # c",
                                              "- x",
                                              "no",
                                              "1e5",
                                              "",
                                              "tab\tbell\a del\x7f",
                                              "$strategy $model",
                                              "\xE2\x80\xA8line separator",
                                              "[section]"};
  return texts;
}

TEST_CASE("a Python literal is one line that holds the text whole") {
  CHECK(python_literal(Json("a\nb")) == "\"a\\nb\"");
  CHECK(python_literal(Json()) == "None");
  CHECK(python_literal(Json::Array{true, 2, "x"}) == "[True, 2, \"x\"]");
  CHECK(python_literal(Json::Object{{"a\"b", false}}) == "{\"a\\\"b\": False}");
  CHECK(python_literal(Json::Array{Json::Array{1}, Json::Array{2}}) == "[\n    [1],\n    [2],\n]");
  for (const std::string& text : hostile()) {
    INFO(text);
    const std::string literal = python_literal(Json(text));
    CHECK(literal.find('\n') == std::string::npos);
    CHECK(*parse_json(literal, "x").if_string() == text);  // the escapes of JSON's strings are Python's as well
  }
}

TEST_CASE("no string is an expression of a call but those that the program itself makes") {
  CHECK(python_call("f", Json::Object{{"name", "=evil()"}}) == "f(\n    name=\"=evil()\",\n)");
  CHECK(python_call("f", Json::Object{{"name", python_expression("self.x")}}) == "f(\n    name=self.x,\n)");
}

TEST_CASE("YAML and TOML give hostile texts back as they were, as keys too") {
  for (const std::string& text : hostile()) {
    INFO(text);
    const Json tree = Json::Object{{"value", text}, {text.empty() ? "key" : text, "x"}};
    CHECK(to_json_text(read_yaml(yaml_text(tree), "x")) == to_json_text(tree));
    CHECK(*read_toml(toml_text(Json::Object{{"value", text}}), "x").find("value")->if_string() == text);
    CHECK(*read_yaml("a: " + yaml_quoted(text) + "\n", "x").find("a")->if_string() == text);
  }
}

TEST_CASE("a comment is one line") {
  CHECK(comment_text("Trains x\nimport os\r\xE2\x80\xA9y") == "Trains x?import os??y");
}

TEST_CASE("a word of a shell is in quotes unless it is plain") {
  CHECK(shell_quoted("--tp=4") == "--tp=4");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's\n") == "'it'\\''s\n'");
  CHECK(shell_quoted("") == "''");
}

}  // namespace
}  // namespace plumbline::quoting_test
