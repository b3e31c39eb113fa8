// Keyword arguments of calls in Python.

#include "planner/frameworks/syntax/python_calls.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::string calls(std::string_view text) {
  std::string json = to_json_text(read_python_calls(text, "train.py", {"Trainer", "Strategy"}), -1);
  json.pop_back();
  return json;
}

TEST_CASE("keyword arguments of the calls that are asked for are values") {
  CHECK(calls("import x\ntrainer = L.Trainer(model, devices=8, precision='bf16-mixed',  # comment, with (brackets\n"
              "    clip=1e-1, mesh=(2, 4), on=True, none=None, policy={Block}, strategy=strategy,\n)\n"
              "other(devices=3)\n") ==
        R"({"Trainer":{"devices":8,"precision":"bf16-mixed","clip":0.1,"mesh":[2,4],"on":true,"none":null,)"
        R"("policy":"{Block}","strategy":"strategy"}})");
}

TEST_CASE("nested calls, strings, definitions and later calls do not mislead") {
  const std::string_view text =
      "class Trainer(object): pass\n\"Trainer(a=1)\"\n# Trainer(a=2)\nTrainer(a=f(b=2), s='a,]')\nTrainer(a=9)";
  const Json first = read_python_calls(text, "train.py", {"Trainer"});
  CHECK(*first.find("Trainer")->find("a")->if_string() == "f(b=2)");
  CHECK(*first.find("Trainer")->find("s")->if_string() == "a,]");
  const Json nested = read_python_calls("Trainer(strategy=Strategy(stage=3))", "train.py", {"Trainer", "Strategy"});
  CHECK(*nested.find("Trainer")->find("strategy")->if_string() == "Strategy(stage=3)");
  CHECK(*nested.find("Strategy")->find("stage")->if_integer() == 3);
  CHECK(calls("Strategy(x == 1, stage=1_000)") == R"({"Strategy":{"stage":1000}})");
  CHECK(calls("") == "{}");
}

TEST_CASE("a call that is not closed is refused with its line") {
  CHECK_THROWS_WITH(calls("\n\nTrainer(devices=8,\n"),
                    Catch::Matchers::ContainsSubstring("train.py: line 3: a call of Trainer is not closed"));
  CHECK_THROWS_AS(calls("Trainer" + std::string(100, '(')), InputError);
  CHECK_THROWS_AS(calls(std::string((1 << 20) + 1, ' ')), InputError);
}

TEST_CASE("calls are written as they are read") {
  const Json arguments = Json::Object{{"devices", 8},
                                      {"clip", 0.5},
                                      {"mesh", Json::Array{2, 4}},
                                      {"name", "a"},
                                      {"policy", python_expression("{Block}")},
                                      {"on", false},
                                      {"none", Json()}};
  const std::string text = python_call("Trainer", arguments);
  CHECK(
      text ==
      "Trainer(\n    devices=8,\n    clip=0.5,\n    mesh=(2, 4),\n    name=\"a\",\n    policy={Block},\n    on=False,\n"
      "    none=None,\n)");
  CHECK(calls(text) ==
        R"({"Trainer":{"devices":8,"clip":0.5,"mesh":[2,4],"name":"a","policy":"{Block}","on":false,"none":null}})");
}

}  // namespace
}  // namespace plumbline
