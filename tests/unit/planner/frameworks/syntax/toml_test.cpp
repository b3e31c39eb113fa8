// TOML as a tree of values, and back.

#include "planner/frameworks/syntax/toml.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::toml_test {
namespace {

std::string as_json(const std::string& toml) {
  std::string text = to_json_text(read_toml(toml, "run.toml"), -1);
  text.pop_back();
  return text;
}

std::string message(const std::string& toml) {
  try {
    (void)read_toml(toml, "run.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("tables, values of every type and comments are read") {
  CHECK(as_json("# a run\n[a]\nx = 2_000  # steps\n[a.b]\nz = [1.5, 2e3]\nw = 'op'\nv = true\n") ==
        R"({"a":{"b":{"v":true,"w":"op","z":[1.5,2000.0]},"x":2000}})");
  CHECK(as_json("a.b.c = {d = 1}\n") == R"({"a":{"b":{"c":{"d":1}}}})");
  CHECK(as_json("day = 2026-02-20\n") == R"({"day":"2026-02-20"})");
  CHECK(as_json("").size() == 2);
}

TEST_CASE("wrong syntax names its line") {
  CHECK(has(message("[a]\nx = 1\ny = \n"), "run.toml:3: not valid TOML"));
  CHECK(has(message("x = 1\nx = 2\n"), "run.toml:2: not valid TOML"));
  CHECK(has(message("x = \"never ends\n"), "run.toml:1: not valid TOML"));
  CHECK(has(message("x = \"\xff\"\n"), "run.toml:1: not valid TOML"));
  CHECK(has(message(std::string("x = 1\n\0", 7)), "run.toml:"));
}

TEST_CASE("a header that no key begins is refused, in every build of the parser") {
  for (const char* const text : {"[@t]", "[[@t]]", "a = 1\n[=]", "[ ! ]\n", "[\x01]"})
    CHECK(message(text).find("not valid TOML") != std::string::npos);
  CHECK(as_json("[ 't' ]\n[[u]]\n[\"v\"]") == R"({"t":{},"u":[{}],"v":{}})");
}

TEST_CASE("characters outside ASCII are for strings and comments alone") {
  CHECK(as_json("a = 'ϕ'  # ϕ\n\"ϕ\" = 1") == R"({"a":"ϕ","ϕ":1})");
  CHECK(
      message("a = 1\nb = 2ϕ") ==
      "run.toml:2: not valid TOML: a character outside ASCII that is in no quotes; expected keys of letters, digits, - "
      "and _, or in quotes");
  CHECK(message("ϕ = 1").find("run.toml:1: not valid TOML") == 0);
}

TEST_CASE("deep nesting is refused before it fills the stack") {
  CHECK(has(message("a" + repeated(".a", 1'000'000) + " = 1\n"), "run.toml:1: a key of more than 64 parts"));
  CHECK(has(message("x = 1\n[a" + repeated(" . \"b.b\"", 100) + "]\n"), "run.toml:2: a key of more than 64 parts"));
  CHECK(has(message("x = " + repeated("[", 100'000)), "run.toml:1: not valid TOML"));
  CHECK(has(message("x = " + repeated("{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=", 60) + "1" + repeated("}", 60)),
            "nested deeper than 64 levels"));
}

TEST_CASE("dots outside of keys do not count") {
  const std::string dots = repeated(".", 200);
  CHECK(message("x = \"" + dots + "\"\ny = '" + dots + "'\n# " + dots + "\n") == "none");
  CHECK(message("x = \"\"\"a \\\" \"\" " + dots + "\n" + dots + "\"\"\"\"\"\ny = '''" + dots + "'\n" + dots +
                "'''\n") == "none");
  CHECK(message("x = [" + repeated("1.5, ", 200) + "]\n") == "none");
}

TEST_CASE("a tree is written as tables and read back as it was") {
  const std::string text =
      "top = 1\n\n[a]\nname = \"a \\\"b\\\"\"\nrate = 1e-08\nparts = [\n  [\"x\", \"y\"],\n  [\"z\"],\n]\n\n"
      "[a.\"odd key\"]\nlist = [{k = 1}]\nempty = []\n";
  const Json tree = parse_json(
      R"({"a": {"name": "a \"b\"", "rate": 1e-8, "parts": [["x", "y"], ["z"]],
          "odd key": {"list": [{"k": 1}], "empty": [], "none": null}}, "top": 1})",
      "test");
  CHECK(toml_text(tree) == text);
  CHECK(toml_text(read_toml(toml_text(tree), "x")).size() == text.size());
  CHECK(read_toml("x = inf\ny = nan\n", "x").find("x")->if_double() != nullptr);
  CHECK(has(toml_text(read_toml("x = -inf\ny = nan\n", "x")), "x = -inf\ny = nan\n"));
}

}  // namespace
}  // namespace plumbline::toml_test
