#include "core/io/plan_json.h"

#include "core/base/errors.h"
#include "core/io/prediction_json.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"
#include "tests/sample_plan.h"

namespace plumbline {
namespace {

Plan read_back(const std::string& text) {
  const Json json = parse_json(text, "plan.json");
  return plan_from_json(JsonPlace(json, "plan.json:"));
}

TEST_CASE("a plan is written as its golden file") {
  const std::string text = to_json_text(to_json(sample_plan()));
  CHECK(text == golden_text("plan_json/plan.json", text));
}

TEST_CASE("what a plan is priced from comes back from its file") {
  const Plan plan = sample_plan();
  const Plan read = read_back(to_json_text(to_json(plan)));
  CHECK(read.strategy == plan.strategy);
  CHECK(read.training.sequence_length == plan.training.sequence_length);
  CHECK(read.training.global_batch == plan.training.global_batch);
  CHECK(read.training.token_budget == plan.training.token_budget);
  CHECK(read.training.precision == plan.training.precision);
  CHECK(read.training.gradient_format == plan.training.gradient_format);
  CHECK(read.training.optimizer == plan.training.optimizer);
  CHECK(read.training.adaptation == plan.training.adaptation);
  CHECK(read.model.source == plan.model.source);
  CHECK(read.model.fingerprint == plan.model.fingerprint);
  CHECK(read.machine.source == plan.machine.source);
  CHECK(read.machine.devices == plan.machine.devices);
  CHECK(read.provenance.stack_calibration == plan.provenance.stack_calibration);
}

TEST_CASE("the seconds of a step sum to the expected step time") {
  const Json json = to_json(sample_plan().prediction);
  double sum = 0;
  for (const Json::Member& cause : *json.find("time")->if_object()) sum += *cause.second.if_double();
  const double expected = *json.find("step_time_s")->find("expected")->if_double();
  CHECK(std::abs(sum - expected) <= 1e-12 * expected);
}

TEST_CASE("the classes of a stage sum to its peak") {
  const Json json = to_json(sample_plan().prediction);
  const Json::Array& stages = *json.find("memory")->if_array();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    std::int64_t sum = 0;
    for (const Json::Member& part : *stages[stage].if_object()) sum += *part.second.if_integer();
    CHECK(sum == *(*json.find("stage_peak_memory_bytes")->if_array())[stage].if_integer());
  }
}

}  // namespace
}  // namespace plumbline
