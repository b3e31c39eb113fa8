// Runs are refused in one line that names the run and the key.

#include "core/io/measured_runs_json.h"

#include "core/base/errors.h"
#include "core/io/run_rules_json.h"
#include "tests/catch.h"

namespace plumbline::measured_runs_json_test {
namespace {

std::string refusal(const std::string& text) {
  try {
    const Json json = parse_json(text, "r.json");
    (void)runs_from_json(JsonPlace(json, "r.json"), "r");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string rules_refusal(const std::string& rule) {
  try {
    const Json json =
        parse_json(R"({"format": "plumbline.row_rules/1", "name": "n", "description": "d", "rules": [)" + rule + "]}",
                   "rules.json");
    (void)run_rules_from_json(JsonPlace(json, "rules.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a file of runs is an array or a document") {
  CHECK(refusal("[]") == "accepted");
  CHECK(refusal("3") == "r.json: is an integer; expected an array of runs or a plumbline.rows/1 document");
  CHECK(refusal("[3]").find("r.json:/0") == 0);
}

TEST_CASE("a run needs an id of its own") {
  CHECK(refusal("[{}]") == "r.json:/0: key \"id\" is missing");
  CHECK(refusal(R"([{"id": ""}])") == "r.json:/0/id: is empty; expected a name that no other run has");
  CHECK(refusal(R"([{"id": "a"}, {"id": "a"}])") ==
        "r.json: run 1 repeats the id \"a\"; expected an id of its own for each run");
}

TEST_CASE("types and ranges of a run are strict") {
  CHECK(refusal(R"([{"id": "a", "gpus": 0}])").find("r.json:/0/gpus") == 0);
  CHECK(refusal(R"([{"id": "a", "gpus": 1.5}])").find("r.json:/0/gpus") == 0);
  CHECK(refusal(R"([{"id": "a", "gpus": "8"}])").find("r.json:/0/gpus") == 0);
  CHECK(refusal(R"([{"id": "a", "zero_stage": 4}])").find("r.json:/0/zero_stage") == 0);
  CHECK(refusal(R"([{"id": "a", "model": 3}])") == "r.json:/0/model: is an integer; expected a string, true or false");
  CHECK(refusal(R"([{"id": "a", "measured": {"step_time_s": 0}}])") ==
        "r.json:/0/measured/step_time_s: is not positive; expected what was measured, above 0");
  CHECK(refusal(R"([{"id": "a", "measured": {"memory_gib": "40 GiB"}}])").find("r.json:/0/measured/memory_gib") == 0);
}

TEST_CASE("in our own form an unknown key is refused with the nearest") {
  CHECK(refusal(R"({"format": "plumbline.rows/1", "rows": [{"id": "a", "gpu": 8}]})").find("nearest: gpus") !=
        std::string::npos);
}

TEST_CASE("a source's own rules are read as strictly as those that hold for all") {
  const auto with = [](const std::string& rules) {
    return refusal(R"({"format": "plumbline.rows/1", "rules": )" + rules + R"(, "rows": [{"id": "a"}]})");
  };
  CHECK(with(R"({"assumptions": [{"when": {"id": "a"}, "then": {"pp": "1"}, "source": "s"}]})") == "accepted");
  CHECK(with(R"({"assumption": []})").find("nearest: assumptions") != std::string::npos);
  CHECK(with(R"({"meanings": [{"when": {}, "then": {"pp": "1"}, "source": ""}]})") ==
        "r.json:/rules/meanings/0/source: is empty; expected who says so, or why it is assumed");
}

TEST_CASE("a rule names fields that a run has, does one thing, and says who says so") {
  CHECK(rules_refusal(R"({"when": {"tp": "1"}, "then": {"pp": "1"}, "source": "s"})") == "accepted");
  CHECK(rules_refusal(R"({"when": {"framwork": "x"}, "then": {"pp": "1"}, "source": "s"})") ==
        "rules.json:/rules/0/when/framwork: \"framwork\" is no field of a run; expected a key of a run; "
        "nearest: framework");
  CHECK(rules_refusal(R"({"when": {}, "then": {"pp": "1"}, "skip": "no", "source": "s"})") ==
        "rules.json:/rules/0: says both or neither of then and skip; expected one of them");
  CHECK(rules_refusal(R"({"when": {}, "then": {"pp": "1"}, "source": ""})") ==
        "rules.json:/rules/0/source: is empty; expected who says so, or why it is assumed");
}

}  // namespace plumbline::measured_runs_json_test
