// A question and a strategy in, a signed plan out; the refusals are those that the command line prints.

#include "planner/session/estimate.h"

#include "core/base/version.h"
#include "core/io/plan_json.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

TEST_CASE("an estimate is the evaluated plan, signed") {
  const PricedQuestion asked = estimate(small_request());
  CHECK(asked.strategy.data_parallel == 8);
  CHECK(asked.strategy.micro_batches == 8);
  Plan expected = evaluate(asked.question, asked.strategy);
  CHECK(asked.plan.provenance.program_version == program_version());
  expected.provenance.program_version = program_version();
  CHECK(to_json_text(to_json(asked.plan)) == to_json_text(to_json(expected)));
  CHECK(asked.warning.empty());
}

TEST_CASE("a plan that was written is priced to the same plan") {
  const PricedQuestion asked = estimate(small_request());
  const PricedQuestion again = estimate(written(asked));
  CHECK(to_json_text(to_json(again.plan)) == to_json_text(to_json(asked.plan)));
  CHECK(again.warning.empty());
}

TEST_CASE("tokens and a stack may be given alongside a plan") {
  PlanRequest request = written(estimate(small_request()));
  request.token_budget = 1'000'000'000;
  request.stack = "torchtitan";
  const Plan plan = estimate(request).plan;
  CHECK(plan.training.token_budget == 1'000'000'000);
  CHECK(plan.run.days > 0);
  CHECK(plan.provenance.stack_calibration.find("torchtitan") == 0);
}

TEST_CASE("a plan file keeps headroom and price, unless others are asked for") {
  StrategyRequest request = small_request();
  request.question.price_per_device_hour = Dollars(7);
  request.question.headroom.share = 0.97;
  request.question.training.token_budget = 1'000'000'000;
  const PricedQuestion asked = estimate(request);
  REQUIRE(!asked.plan.verdict.fits);
  PlanRequest plan = written(asked);
  const Json file = to_json(asked.plan);
  plan.plan = plan_from_json(JsonPlace(file, "plan.json:"));
  const PricedQuestion again = estimate(plan);
  CHECK(to_json_text(to_json(again.plan)) == to_json_text(to_json(asked.plan)));
  CHECK(again.plan.verdict.headroom == asked.plan.verdict.headroom);
  plan.headroom = Headroom{};
  plan.price_per_device_hour = Dollars(14);
  const Plan other = estimate(plan).plan;
  CHECK(other.verdict.fits);
  CHECK(other.run.dollars.value() == Approx(2 * asked.plan.run.dollars.value()));
}

TEST_CASE("a plan of another model than is here now is priced, with a warning") {
  PlanRequest request = written(estimate(small_request()));
  request.plan.model.fingerprint = "0000000000000000";
  CHECK(estimate(request).warning == "the model gpt2 changed since the plan was written; it is priced as it is now");
}

TEST_CASE("a plan that crosses nodes with tensor parallelism says so itself") {
  StrategyRequest request = small_request(16);
  request.question.model = "gpt3-13b";
  request.question.tensor_parallel_across_nodes = true;
  request.question.training.sequence_length = 2048;
  request.strategy.strategy.tensor_parallel = 8;
  PlanRequest plan = written(estimate(request));
  CHECK(estimate(plan).strategy.tensor_parallel == 8);
}

TEST_CASE("wrong requests are refused in the words of the command line") {
  StrategyRequest unknown = small_request();
  unknown.question.model = "gpt-two";
  CHECK(refusal([&] { return estimate(unknown); }) == refusal([] { return find_network("gpt-two"); }));
  CHECK(refusal([&] { return estimate(unknown); }) != "accepted");
  StrategyRequest uneven = small_request();
  uneven.strategy.strategy.tensor_parallel = 3;
  CHECK(refusal([&] { return estimate(uneven); }) ==
        "strategy: tp x cp x pp = 3 does not divide 8 GPUs; expected degrees whose product divides the GPU count");
  StrategyRequest stateless = small_request();
  stateless.question.training.optimizer = Optimizer::sgd;
  stateless.question.training.optimizer_format = NumberFormat::bf16;
  CHECK(refusal([&] { return estimate(stateless); }) ==
        "--optimizer-precision: sgd keeps no moments whose format could be chosen; expected an optimizer with moments, "
        "or no such flag");
  PlanRequest elsewhere = written(estimate(small_request()), "mine.json");
  elsewhere.plan.machine.source = "/nowhere/machine.json";
  CHECK(refusal([&] { return estimate(elsewhere); }).find("mine.json:/machine/source: ") == 0);
}

// Priced without its edit it would be another plan than the one that its reader believes in.
TEST_CASE("a layout that was edited is refused, with the place where layers are given by hand") {
  StrategyRequest pipeline = small_request();
  pipeline.strategy.strategy.pipeline_stages = 4;
  PlanRequest edited = written(estimate(pipeline), "mine.json");
  REQUIRE(edited.plan.layout.stages.size() == 4);
  CHECK(refusal([&] { return estimate(edited); }) == "accepted");
  edited.plan.layout.stages[1].layers = {{3, 6}};
  CHECK(refusal([&] { return estimate(edited); }) ==
        "mine.json:/layout/stages/1/layers: 3-6; expected 3-5, which follow from the strategy; layers by hand are in "
        "/strategy/layers_per_stage");
  edited.plan.layout.stages.pop_back();
  CHECK(refusal([&] { return estimate(edited); }) ==
        "mine.json:/layout/stages: 3 stages; expected 4, which follow from the strategy");
  edited.plan.model.fingerprint = "0000000000000000";
  CHECK(refusal([&] { return estimate(edited); }) == "accepted");
}

}  // namespace
}  // namespace plumbline::session
