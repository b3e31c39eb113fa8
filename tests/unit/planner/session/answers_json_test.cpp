// Answers of sessions as the JSON that scripts read.

#include "planner/session/compare/compare.h"
#include "planner/session/explain/explain.h"
#include "planner/session/search/search_json.h"
#include "planner/session/validate/validate.h"
#include "tests/catch.h"
#include "tests/json_members.h"
#include "tests/sample_plan.h"

namespace plumbline {
namespace {

session::SearchAnswer found() {
  session::SearchAnswer answer;
  answer.request.question.model = "tiny";
  answer.request.question.training.precision = PrecisionRecipe::bf16;
  answer.request.recipes = {{PrecisionRecipe::bf16, PrecisionRecipe::fp8}, {Optimizer::adamw, Optimizer::muon}, {8}};
  answer.request.fixes = "tp=2";
  answer.request.flash_attention = {FlashAttention::on};
  answer.result.audit.total = 11;
  answer.result.audit.illegal["tensor-heads"] = 3;
  answer.result.audit.memory = 4;
  answer.result.audit.solved = 4;
  answer.result.complete = false;
  RankedStrategy point;
  point.precision = PrecisionRecipe::fp8;
  point.step_time = Picoseconds(2'000'000'000'000);
  point.simulated = Picoseconds(3'000'000'000'000);
  point.peak_memory = Bytes(1024);
  point.devices = 8;
  answer.result.pareto = {point};
  answer.plans = {sample_plan()};
  return answer;
}

TEST_CASE("a search is written as plumbline.search/1") {
  const Json json = to_json(found());
  CHECK(keys(json) == Names{"format", "question", "considered", "rejected", "solved", "unvisited", "refined", "plans",
                            "alike", "standing", "pareto", "complete", "nearest_miss", "framework", "best_of_others",
                            "next_stack"});
  CHECK(at(json, "standing").is_null());
  CHECK(*at(json, "format").if_string() == session::search_format);
  CHECK(*at(json, "considered").if_integer() == 11);
  CHECK(keys(at(json, "rejected")) == Names{"tensor-heads", "memory", "bound", "dominated", "infeasible"});
  CHECK(*at(at(json, "question"), "fixed").if_string() == "tp=2");
  CHECK(at(at(json, "question"), "precisions").if_array()->size() == 2);
  CHECK(*at(at(json, "question"), "optimizers").if_array()->at(1).if_string() == "muon");
  CHECK(*at(at(json, "question"), "lora_ranks").if_array()->at(0).if_integer() == 8);
  CHECK(*at(at(json, "question"), "flash_attention").if_array()->at(0).if_bool());
  CHECK(!*at(json, "complete").if_bool());
  CHECK(at(json, "nearest_miss").is_null());
  CHECK(at(json, "plans").if_array()->size() == 1);
}

TEST_CASE("a search lists what each plan stands for, and how the leading plans compare") {
  session::SearchAnswer answer = found();
  answer.result.equivalent = {answer.result.pareto};
  answer.ties = {2, 1, {}, 0.05, 0.01};
  const Json json = to_json(answer);
  REQUIRE(at(json, "alike").if_array()->size() == 1);
  const Json& other = at(json, "alike").if_array()->front().if_array()->front();
  CHECK(keys(other) == Names{"step_time_s", "peak_memory_bytes", "devices", "strategy", "lora_rank"});
  CHECK(keys(at(json, "standing")) == Names{"tied", "simplest", "noise", "expected_regret"});
  CHECK(*at(at(json, "standing"), "simplest").if_integer() == 2);
}

TEST_CASE("a point of the front has the step that ranks and its own precision") {
  const Json json = to_json(found());
  const Json& point = at(json, "pareto").if_array()->front();
  CHECK(keys(point) == Names{"step_time_s", "peak_memory_bytes", "devices", "strategy", "lora_rank"});
  CHECK(*at(point, "step_time_s").if_double() == 3.0);
  CHECK(*at(at(point, "strategy"), "precision").if_string() == "fp8");
}

TEST_CASE("the nearest miss is a plan") {
  session::SearchAnswer answer = found();
  answer.plans.clear();
  answer.nearest_miss = sample_plan();
  CHECK(*at(at(to_json(answer), "nearest_miss"), "format").if_string() == "plumbline.plan/1");
}

TEST_CASE("an explanation is written with its changes, the assumed numbers and the other plan") {
  session::Explanation answer;
  answer.plan = sample_plan();
  answer.bottleneck = "compute";
  answer.changes = {{{"tp 2 -> 4", "pp 2 -> 1"}, sample_plan().strategy, sample_plan()}};
  answer.assumed = {{{"overhead", 0.01, "a guess"}, 0.5, 0.02, 0}};
  CHECK(keys(to_json(answer)) == Names{"plan", "bottleneck", "changes", "assumed"});
  answer.against = sample_plan();
  const Json json = to_json(answer);
  CHECK(keys(json) == Names{"plan", "bottleneck", "changes", "assumed", "against"});
  const Json& change = at(json, "changes").if_array()->front();
  CHECK(keys(change) == Names{"change", "flags", "strategy", "step_time_s", "step_time_change", "peak_memory_bytes",
                              "margin_bytes", "fits", "near_edge"});
  CHECK(*at(change, "change").if_string() == "tp 2 -> 4, pp 2 -> 1");
  CHECK(keys(at(json, "assumed").if_array()->front()) ==
        Names{"name", "value", "source", "relative_sigma", "step_time_change", "peak_memory_change"});
}

TEST_CASE("a comparison is written line by line; a difference without a cause has none") {
  Comparison comparison;
  comparison.predicted_step_s = {1, 2, 3};
  comparison.measured_step_s = 2.5;
  comparison.memory = {{0, "weights", Bytes(8), Bytes(8), "", Bytes(8)}};
  comparison.communication = {{1, "tensor", "all-reduce", Bytes(4), Bytes(5), "one too many", Bytes(4)}};
  comparison.actions = {{1, ActionKind::forward, 4, Seconds(1), Seconds(2)}};
  comparison.losses = {5.5};
  comparison.arenas = {Bytes(64)};
  const Json json = to_json(comparison);
  CHECK(keys(json) == Names{"step_time_s", "bytes_equal", "memory", "communication", "communication_beside", "actions",
                            "arena_bytes", "loss"});
  CHECK(!*at(json, "bytes_equal").if_bool());
  CHECK(at(at(json, "memory").if_array()->front(), "cause").is_null());
  const Json& sent = at(json, "communication").if_array()->front();
  CHECK(keys(sent) ==
        Names{"stage", "group", "collective", "predicted_bytes", "measured_bytes", "routed_bytes", "cause"});
  CHECK(*at(sent, "cause").if_string() == "one too many");
  CHECK(*at(at(json, "actions").if_array()->front(), "kind").if_string() == to_text(ActionKind::forward));
}

TEST_CASE("a comparison has the device's memory where the run had a device with memory of its own") {
  Comparison comparison;
  comparison.device = {{1, "context", Bytes(8), Bytes(9)}};
  const Json json = to_json(comparison);
  const Json& line = at(json, "device_memory").if_array()->front();
  CHECK(keys(line) == Names{"stage", "part", "predicted_bytes", "measured_bytes"});
  CHECK(*at(line, "measured_bytes").if_integer() == 9);
}

TEST_CASE("a validation is written as plumbline.validation/1") {
  const Json json = to_json(Validation{});
  CHECK(keys(json) == Names{"format", "rows", "skipped", "unread_keys", "summary", "summary_fitted", "summary_held_out",
                            "by_source"});
  CHECK(keys(at(json, "summary")) ==
        Names{"time", "memory", "fit", "time_inferred", "time_doubtful", "memory_inferred", "memory_doubtful", "ran"});
}

}  // namespace
}  // namespace plumbline
