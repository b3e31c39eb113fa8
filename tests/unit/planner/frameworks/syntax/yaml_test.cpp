// YAML as trees of values, in both directions.

#include "planner/frameworks/syntax/yaml.h"

#include "core/base/errors.h"
#include "planner/frameworks/syntax/yaml_words.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string json_of(std::string_view yaml) {
  std::string text = to_json_text(read_yaml(yaml, "a.yaml"), -1);
  text.pop_back();
  return text;
}

std::string refusal(std::string_view yaml) {
  try {
    static_cast<void>(read_yaml(yaml, "a.yaml"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("block and flow style give the same tree") {
  CHECK(json_of("a: 1\nb:\n  c: [x, 'y', \"z\"]\n  d: {e: true}\nf:\n- 1.5\n- ~\n") ==
        R"({"a":1,"b":{"c":["x","y","z"],"d":{"e":true}},"f":[1.5,null]})");
  CHECK(json_of("# only a comment\n") == "null");
  CHECK(json_of("a:\n---\nb: 2\n") == R"({"a":null})");  // the first document
}

TEST_CASE("plain words stand for what PyYAML makes of them") {
  CHECK(json_of("[yes, No, on, OFF, true, null, 'no', \"yes\", nO, y]") ==
        R"([true,false,true,false,true,null,"no","yes","nO","y"])");
  CHECK(json_of("[12, -7, +3, 0x1F, 0o17, 1_000, 1.5, .5, -2.5e+3, 1e-5]") ==
        "[12,-7,3,31,15,1000,1.5,0.5,-2500.0,1e-05]");
  CHECK(json_of("[1.2.3, 5e, --1, 0x, ., 10.0.0.1]") == R"(["1.2.3","5e","--1","0x",".","10.0.0.1"])");
  CHECK(json_of("[!!str 5, !!int 5, !!bool 'yes']") == R"(["5",5,true])");
}

TEST_CASE("hostile documents are refused with their line") {
  CHECK_THAT(refusal("a: &x [1]\nb: *x\n"), ContainsSubstring("a.yaml: line 2: an alias (*NAME)"));
  using namespace std::string_view_literals;
  CHECK_THAT(refusal("a: 1\n\0b: 2\n"sv), ContainsSubstring("a.yaml: line 2: a control character"));
  CHECK_THAT(refusal("a: 1\n\x04\nb: 2\n"sv), ContainsSubstring("a.yaml: line 2: a control character"));
  CHECK_THAT(refusal("a: 1\nb: 2\na: 3\n"), ContainsSubstring("a.yaml: line 3: key a appears twice"));
  CHECK_THAT(refusal("a:\n  - 1\n b: 2\n"), ContainsSubstring("a.yaml: line 3: not valid YAML"));
  CHECK_THAT(refusal("a: !!python/object:os.system ls\n"), ContainsSubstring("line 1: tag "));
  CHECK_THAT(refusal("<<: {a: 1}\n"), ContainsSubstring("a merge of keys"));
  CHECK_THAT(refusal("? [a]\n: 1\n"), ContainsSubstring("a key that is a list"));
  CHECK_THAT(refusal(std::string(100, '[') + std::string(100, ']')), ContainsSubstring("deeper than 64 levels"));
  CHECK_THAT(refusal(std::string(100'000, '[')), ContainsSubstring("a.yaml"));
  CHECK_THAT(refusal(std::string((1 << 20) + 1, ' ')), ContainsSubstring("larger than 1 MiB"));
}

TEST_CASE("what is written is read back as it was") {
  const Json tree = Json::Object{
      {"plain", "TRANSFORMER_BASED_WRAP"},
      {"with space", "two words"},
      {"no", "no"},
      {"strings", Json::Array{"",     " a", "a: b", "#",    "it's",     "1.5", "0x1F", "1:30", "2020-01-02",
                              "null", "~",  "- a",  "a\nb", "\xc3\xa9", "yes", "y",    "<<",   "=",
                              "*a",   "&a", "!a",   "%a",   "@a",       "`a",  "{",    "]"}},
      {"numbers", Json::Array{1, -1, 1.5, 1e-5, 1e20, 0.0}},
      {"empty", Json::Array{Json::Array{}, Json::Object{}, Json(), true, false}},
      {"nested", Json::Array{Json::Array{1, Json::Array{2}}, Json::Object{{"a", Json::Object{{"b", 1}}}}}}};
  const std::string text = yaml_text(tree);
  INFO(text);
  CHECK(to_json_text(read_yaml(text, "a.yaml")) == to_json_text(tree));
  for (const char* const scalar : {"a", "no", "5"})
    CHECK(*read_yaml(yaml_text(Json(scalar)), "a.yaml").if_string() == scalar);
}

TEST_CASE("strings that need no quotes get none, and numbers are numbers to PyYAML") {
  CHECK(yaml_text(Json::Object{{"distributed_type", "FSDP"}, {"downcast_bf16", "no"}, {"rate", 1e-5}, {"count", 8}}) ==
        "distributed_type: FSDP\ndowncast_bf16: 'no'\nrate: 1.0e-05\ncount: 8\n");
  CHECK(is_plain_yaml("BACKWARD_PRE"));
  CHECK(is_plain_yaml("train/run_1.py"));
  for (const char* const text : {"", "on", "Null", "3", "-", "a:b", "a #b", "a  b", "a ", "y", "N"})
    CHECK_FALSE(is_plain_yaml(text));
}

}  // namespace
}  // namespace plumbline
