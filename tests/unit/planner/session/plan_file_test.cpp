// What a plan file carries for launchers, and what of it is refused when it was edited.

#include "planner/session/plan_file.h"

#include "core/io/plan_json.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

Json file_of(const PricedQuestion& asked) {
  Json::Object file = *to_json(asked.plan).if_object();
  file.emplace_back("launch", launch_of(asked));
  return file;
}

PlanRequest request_of(const PricedQuestion& asked, Json file) {
  PlanRequest request = written(asked);
  request.written = std::move(file);
  return request;
}

/// The same value with another one at a path of keys and indices.
Json edited(const Json& value, std::vector<std::string> path, const Json& now) {
  if (path.empty()) return now;
  const std::string key = path.front();
  path.erase(path.begin());
  if (const Json::Array* array = value.if_array()) {
    Json::Array copy = *array;
    Json& one = copy[static_cast<std::size_t>(std::stoi(key))];
    one = edited(one, path, now);
    return copy;
  }
  Json::Object copy = *value.if_object();
  for (auto& [name, member] : copy)
    if (name == key) member = edited(member, path, now);
  return copy;
}

TEST_CASE("a plan file is read back as it was written") {
  const PricedQuestion asked = estimate(runnable_request());
  CHECK(refusal([&] { return estimate(request_of(asked, file_of(asked))); }) == "accepted");
}

TEST_CASE("a value of the layout or the launch that was edited is refused with what follows from the strategy") {
  const PricedQuestion asked = estimate(runnable_request());
  const Json file = file_of(asked);
  const auto refused = [&](const std::vector<std::string>& path, const Json& value) {
    return refusal([&] { return estimate(request_of(asked, edited(file, path, value))); });
  };
  const std::string ends = ", which follows from the strategy; a plan without /layout and /launch follows it alone";
  CHECK(refused({"layout", "groups", "pipeline", "stride"}, 1) ==
        "plan.json:/layout/groups/pipeline/stride: 1; expected 2" + ends);
  CHECK(refused({"layout", "rank_order", "0"}, "data") ==
        "plan.json:/layout/rank_order/0: \"data\"; expected \"tensor\"" + ends);
  CHECK(refused({"launch", "kept", "weights"}, "part") ==
        "plan.json:/launch/kept/weights: \"part\"; expected \"whole\"" + ends);
  CHECK(
      refused({"launch", "stages", "1", "units", "0", "1"}, 4).starts_with("plan.json:/launch/stages/1/units/0/1: 4"));
  CHECK(refused({"launch", "network", "hidden_size"}, 64).starts_with("plan.json:/launch/network/hidden_size: 64"));
  CHECK(refused({"launch", "blocks", "0", "parameters", "0", "divided", "0", "over"}, "expert")
            .starts_with("plan.json:/launch/blocks/0/parameters/0/divided/0/over: \"expert\"; expected \"tensor\""));
}

TEST_CASE("a strategy that was edited contradicts what follows from the old one") {
  const PricedQuestion asked = estimate(runnable_request());
  PlanRequest request = request_of(asked, file_of(asked));
  request.plan.strategy.schedule = Schedule::gpipe;
  CHECK(refusal([&] { return estimate(request); }).starts_with("plan.json:/launch/stages/"));
  request.written = Json();  // an older file, or one without them
  CHECK(refusal([&] { return estimate(request); }) == "accepted");
}

TEST_CASE("a file of another version of the program is not compared") {
  const PricedQuestion asked = estimate(runnable_request());
  PlanRequest request = request_of(asked, edited(file_of(asked), {"launch", "kept", "weights"}, "part"));
  request.plan.provenance.program_version = "0.0.1";
  CHECK(refusal([&] { return estimate(request); }) == "accepted");
}

TEST_CASE("the network is read from the plan where its file is not here") {
  const PricedQuestion asked = estimate(runnable_request());
  const Json file = file_of(asked);
  PlanRequest request = request_of(asked, file);
  request.plan.model.source = "/nowhere/config.json";
  CHECK(estimate(request).plan.model.fingerprint == asked.plan.model.fingerprint);
  request.written = edited(file, {"launch", "network", "num_hidden_layers"}, 6);
  CHECK(refusal([&] {
          return estimate(request);
        }).starts_with("plan.json:/launch/network: the config describes a network"));
  request.written = Json();
  CHECK(refusal([&] { return estimate(request); }).starts_with("plan.json:/model/source: "));
}

TEST_CASE("what a launcher reads does not grow with ranks, layers or micro-batches") {
  StrategyRequest small = small_request(8);
  small.question.training.global_batch = 64;
  StrategyRequest large = small_request(1024);
  large.question.training.global_batch = 1 << 20;
  const auto size = [](const StrategyRequest& request) { return to_json_text(launch_of(estimate(request))).size(); };
  CHECK(size(large) < size(small) + 100);
}

}  // namespace
}  // namespace plumbline::session
