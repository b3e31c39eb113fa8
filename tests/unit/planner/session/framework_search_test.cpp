// A search for a framework: only what it launches, and what its limits cost.

#include <algorithm>

#include "planner/session/search/search_json.h"
#include "planner/session/search/search_words.h"
#include "tests/catch.h"
#include "tests/search_audit.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// 13 billion parameters on one node: states do not fit without sharding or splitting them.
SearchRequest request_for(Framework framework) {
  SearchRequest request;
  request.question.model = "gpt3-13b";
  request.question.machine = "dgx-a100-80g";
  request.question.stack = "megatron-core-0.12";  // one for all frameworks, so that times compare
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
    for (const Plan& plan : answer.plans) CHECK(inexpressible(framework, plan.strategy, NetworkFacts{}).empty());
    CHECK(accounted(answer.result.audit) == answer.result.audit.total);
  }
}

TEST_CASE("where nobody names a stack, that of the framework's current releases prices its plans") {
  const auto stack_of = [](Framework framework, const std::string& machine, const std::string& stack) {
    SearchRequest request = request_for(framework);
    request.question.machine = machine;
    request.question.stack = stack;
    return prepare_search(request).request.question.stack;
  };
  CHECK(stack_of(Framework::torchtitan, "dgx-a100-80g", "") == record_of(Framework::torchtitan).current_stack);
  CHECK(stack_of(Framework::deepspeed, "dgx-a100-80g", "") == record_of(Framework::deepspeed).current_stack);
  CHECK(stack_of(Framework::pytorch, "dgx-a100-80g", "") == "pytorch-2.9");
  CHECK(stack_of(Framework::accelerate, "dgx-a100-80g", "") == "huggingface-2024");
  CHECK(stack_of(Framework::lightning, "dgx-a100-80g", "") == "unknown");
  CHECK(stack_of(Framework::megatron_lm, "dgx-a100-80g", "") == "megatron-core-0.19");
  CHECK(stack_of(Framework::any, "dgx-a100-80g", "") == "megatron-bridge-26.06");
  CHECK(stack_of(Framework::torchtitan, "dgx-a100-80g", "llm-c-2024") == "llm-c-2024");
}

TEST_CASE("a framework that no stack has keeps gradients as its own record says") {
  const auto gradients = [](Framework framework) {
    SearchRequest request = request_for(framework);
    request.question.stack.clear();
    return prepare_search(request).request.question.training.gradient_format;
  };
  CHECK(gradients(Framework::pytorch) == NumberFormat::fp32);
  CHECK(gradients(Framework::torchtitan) == NumberFormat::fp32);  // its stack says nothing of them
  CHECK(gradients(Framework::accelerate) == NumberFormat::fp32);  // its FSDP keeps shards in 32 bits
  CHECK(gradients(Framework::lightning) == NumberFormat::bf16);
}

TEST_CASE("adapters that the stack's framework does not train are priced with the stack of the one that does") {
  SearchRequest request = request_for(Framework::any);
  request.framework.reset();
  request.question.stack.clear();
  request.question.training.adaptation.lora_rank = 8;
  const PreparedSearch prepared = prepare_search(request);
  CHECK(prepared.framework.framework == Framework::accelerate);
  CHECK(prepared.request.question.stack == "huggingface-2024");
}

std::int64_t least_closed_form(const SearchAnswer& answer) {
  std::int64_t least = Picoseconds::largest().value();
  for (const RankedStrategy& plan : answer.result.best) least = std::min(least, plan.step_time.value());
  return least;
}

TEST_CASE("lifting the limits of a framework gains the best plan by closed form of the whole space") {
  const SearchAnswer any = search(request_for(Framework::any));
  CHECK(!any.without_limits);
  CHECK(present::limits_words(any).empty());
  const SearchAnswer limited = search(request_for(Framework::accelerate));
  REQUIRE(limited.without_limits);
  REQUIRE(limited.without_limits->plan);
  const Plan& best = *limited.without_limits->plan;
  CHECK(best.prediction.time.total().value() == least_closed_form(any));
  CHECK(!limited.without_limits->inexpressible.empty());
  CHECK(limited.result.audit.total < any.result.audit.total);
  CHECK(limited.result.best.front().ranking_step() >= any.result.best.front().ranking_step());
  const Json json = to_json(limited);
  CHECK(*json.find("framework")->find("name")->if_string() == "accelerate");
  CHECK(*json.find("framework")->find("without_limits")->find("gains")->if_bool());
}

TEST_CASE("where a framework launches the best plan that there is, lifting its limits gains nothing") {
  SearchRequest request = request_for(Framework::plumbline);
  request.question.model = "llama-2-13b";  // whose vocabulary all degrees divide
  const SearchAnswer answer = search(request);
  REQUIRE(answer.without_limits);
  CHECK(!answer.without_limits->plan);
  CHECK(present::limits_words(answer) == "Without the limits of plan run the search finds nothing better.");
  CHECK(!*to_json(answer).find("framework")->find("without_limits")->find("gains")->if_bool());
}

TEST_CASE("what lifting the limits would gain is one sentence") {
  SearchAnswer answer;
  answer.framework.framework = Framework::deepspeed;
  Plan plan;
  plan.prediction.step_time_s.expected = 1;
  plan.prediction.peak_memory = 30_GiB;
  answer.plans = {plan};
  plan.prediction.step_time_s.expected = 0.9;
  plan.prediction.peak_memory = 20_GiB;
  plan.strategy.pipeline_stages = 2;
  plan.strategy.schedule = Schedule::gpipe;
  answer.without_limits = WithoutLimits{plan, {"DeepSpeed has no schedule gpipe; it has 1f1b"}};
  CHECK(present::limits_words(answer) == "Any framework (--for any): step time -10.0 % with " + to_text(plan.strategy) +
                                             "; DeepSpeed has no schedule gpipe; it has 1f1b.");
  answer.request.objective = Objective::least_memory;
  CHECK(present::limits_words(answer).find("peak memory -33.3 %") != std::string::npos);
  answer.without_limits = WithoutLimits{};
  CHECK(present::limits_words(answer) == "Without the limits of DeepSpeed the search finds nothing better.");
}

TEST_CASE("a search looks by default for what the stack's framework launches") {
  SearchRequest request = request_for(Framework::any);
  request.framework.reset();
  const auto chosen = [&] { return prepare_search(request).framework; };
  CHECK(chosen().framework == Framework::megatron_lm);
  CHECK(!chosen().is_asked_for);
  for (const Plan& plan : search(request).plans)
    CHECK(inexpressible(Framework::megatron_lm, plan.strategy, NetworkFacts{}).empty());
  request.question.stack = "torchtitan";
  CHECK(chosen().framework == Framework::torchtitan);
  request.question.stack = "llm-c-2024";
  CHECK(chosen().framework == Framework::any);
  CHECK(chosen().lifted.empty());
}

TEST_CASE("what the usual framework cannot launch lifts its limits where it is asked for by name") {
  SearchRequest request = request_for(Framework::any);
  request.framework.reset();
  const auto lifted = [&](const std::string& fixes) {
    request.fixes = fixes;
    const FrameworkChoice choice = prepare_search(request).framework;
    CHECK(choice.framework == Framework::any);
    return choice.lifted;
  };
  CHECK(lifted("schedule=zbv") == "Megatron-LM has no schedule zbv; it has 1f1b and interleaved");
  CHECK(lifted("recompute=optimal").find("Megatron-LM has no recompute optimal") == 0);
  request.question.training.adaptation.lora_rank = 16;
  CHECK(lifted("pp=4") == "Accelerate launches no plan with the fixed values");
}

TEST_CASE("adapters are launched by Accelerate where the stack's framework trains none, without pipelines") {
  SearchRequest request;
  request.question.model = "llama-3-8b";
  request.question.machine = "rtx4090-pcie";
  request.question.devices = 4;
  request.question.training.sequence_length = 2048;
  request.question.training.global_batch = 32;
  request.question.training.adaptation.lora_rank = 16;
  const SearchAnswer answer = search(request);
  CHECK(answer.framework.framework == Framework::accelerate);
  REQUIRE(!answer.plans.empty());
  for (const Plan& plan : answer.plans) CHECK(plan.strategy.pipeline_stages == 1);
  request.question.stack = "megatron-bridge";
  CHECK(prepare_search(request).framework.framework == Framework::megatron_bridge);
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
