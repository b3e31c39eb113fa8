// A search for a framework: only what it launches, and what its limits cost.

#include "planner/io/search_json.h"
#include "planner/present/search_words.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// 13 billion parameters on one node: states do not fit without sharding or splitting them.
SearchRequest request_for(Framework framework) {
  SearchRequest request;
  request.question.model = "gpt3-13b";
  request.question.machine = "dgx-a100-80g";
  request.question.devices = 8;
  request.question.training.sequence_length = 2048;
  request.question.training.global_batch = 64;
  request.framework = framework;
  request.top = 20;
  request.threads = 2;
  return request;
}

TEST_CASE("a search for a framework finds only what the framework launches") {
  for (const Framework framework : {Framework::megatron_lm, Framework::deepspeed, Framework::torchtitan}) {
    const SearchAnswer answer = search(request_for(framework));
    REQUIRE(!answer.plans.empty());
    for (const Plan& plan : answer.plans) CHECK(inexpressible(framework, plan.strategy, false).empty());
    CHECK(answer.result.audit.accounted() == answer.result.audit.total);
  }
}

TEST_CASE("the limits of a framework cost what the best plan without them would save") {
  const SearchAnswer any = search(request_for(Framework::any));
  CHECK(!any.without_limits);
  CHECK(present::framework_words(any).empty());
  CHECK(to_json(any).find("framework") == nullptr);
  const SearchAnswer limited = search(request_for(Framework::accelerate));
  REQUIRE(limited.without_limits);
  CHECK(limited.without_limits->plan.strategy == any.plans.front().strategy);
  CHECK(limited.result.audit.total < any.result.audit.total);
  CHECK(limited.result.best.front().ranking_step() >= any.result.best.front().ranking_step());
  const Json json = to_json(limited);
  const Json* framework = json.find("framework");
  REQUIRE(framework != nullptr);
  CHECK(*framework->find("name")->if_string() == "accelerate");
}

TEST_CASE("what the limits cost is one sentence") {
  SearchAnswer answer;
  answer.request.framework = Framework::deepspeed;
  Plan plan;
  plan.prediction.step_time_s.expected = 1.1;
  plan.prediction.peak_memory = 30_GiB;
  answer.plans = {plan};
  plan.prediction.step_time_s.expected = 1;
  plan.prediction.peak_memory = 20_GiB;
  plan.strategy.pipeline_stages = 2;
  plan.strategy.schedule = Schedule::gpipe;
  answer.without_limits = WithoutLimits{plan, {"DeepSpeed has no schedule gpipe; it has 1f1b"}};
  CHECK(present::framework_words(answer) == "Limits of DeepSpeed: step time +10.0 % against " + to_text(plan.strategy) +
                                                "; DeepSpeed has no schedule gpipe; it has 1f1b.");
  answer.request.objective = Objective::least_memory;
  CHECK(present::framework_words(answer).find("peak memory +50.0 %") != std::string::npos);
  answer.without_limits->inexpressible.clear();
  CHECK(present::framework_words(answer) == "DeepSpeed can launch the best plan that there is.");
}

TEST_CASE("what is asked for by name must be launched by the framework") {
  SearchRequest request = request_for(Framework::megatron_lm);
  request.fixes = "schedule=zbv";
  CHECK(refusal([&] { return prepare_search(request); }) ==
        "--fix schedule: Megatron-LM has no schedule zbv; it has 1f1b and interleaved; expected another value, or "
        "another framework");
  request.fixes = "recompute=full|every:2";
  CHECK(refusal([&] {
          return prepare_search(request);
        }).find("--fix recompute: Megatron-LM has no recompute every:2") == 0);
  request = request_for(Framework::deepspeed);
  request.split = StageSplit::balanced;
  CHECK(refusal([&] {
          return prepare_search(request);
        }).find("--split: DeepSpeed has no layers of each stage by hand") == 0);
  request = request_for(Framework::torchtitan);
  request.question.training.optimizer = Optimizer::lion;
  CHECK(refusal([&] { return prepare_search(request); }).find("--for: torchtitan has no optimizer lion") == 0);
  request = request_for(Framework::accelerate);
  request.fixes = "pp=4";
  CHECK(refusal([&] { return search(request); }) ==
        "--fix: no strategy of 8 GPUs that the framework can launch has pp=4; expected 1");
}

TEST_CASE("a search for a framework that is stopped does not look further") {
  std::stop_source source;
  Task task;
  task.stop = source.get_token();
  task.progress = [&](const TaskProgress&) { source.request_stop(); };
  CHECK(!search(request_for(Framework::deepspeed), task).without_limits);
}

}  // namespace
}  // namespace plumbline::session
