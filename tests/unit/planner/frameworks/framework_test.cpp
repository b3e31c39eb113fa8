// What frameworks can launch, and what of a strategy they cannot.

#include "planner/frameworks/framework.h"

#include "models/calibration_catalog.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

template <class Value>
void check_entries(const std::vector<Launchable<Value>>& list) {
  for (const Launchable<Value>& one : list) {
    CHECK(!one.spelling.empty());
    CHECK(!one.source.empty());
  }
}

TEST_CASE("every framework is read back from its name") {
  for (const Framework framework : all_frameworks) CHECK(framework_from_text(to_text(framework)) == framework);
  CHECK(!framework_from_text("megatron"));
}

TEST_CASE("of one framework no release was read: it is this program's own") {
  int own = 0;
  for (const Framework framework : all_frameworks)
    own += framework != Framework::any && record_of(framework).revision.empty() ? 1 : 0;
  CHECK(own == 1);
  CHECK(record_of(own_framework()).title == "plan run");
}

TEST_CASE("one framework launches adapters where nobody says otherwise, and one takes what no other has a recipe for") {
  int of_adapters = 0;
  int last = 0;
  for (const Framework framework : all_frameworks) {
    if (framework == Framework::any) continue;
    const FrameworkRecord& r = record_of(framework);
    of_adapters += r.is_usual_of_adapters ? 1 : 0;
    last += r.scope && r.scope->is_last_resort ? 1 : 0;
  }
  CHECK(of_adapters == 1);
  CHECK(!record_of(usual_of_adapters()).adapters.empty());
  CHECK(last == 1);
  CHECK(record_of(last_resort()).scope->has_every_network);
}

TEST_CASE("every entry of a record says how it is spelled and where that is read") {
  for (const Framework framework : all_frameworks) {
    if (framework == Framework::any) continue;
    const FrameworkRecord& r = record_of(framework);
    INFO(r.title);
    CHECK(r.framework == framework);
    check_entries(r.schedules);
    check_entries(r.recompute);
    check_entries(r.zero_stages);
    check_entries(r.features);
    check_entries(r.precisions);
    check_entries(r.optimizers);
    for (const FrameworkRule& rule : r.rules) CHECK((!rule.sentence.empty() && !rule.source.empty()));
    CHECK(!r.defaults.gradient_source.empty());
    CHECK(!r.defaults.buckets.empty());
    CHECK(!r.defaults.bucket_source.empty());
  }
}

TEST_CASE("what prices the current releases of a framework is a stack that it drives, or is unknown") {
  for (const Framework framework : all_frameworks) {
    if (framework == Framework::any) continue;
    const FrameworkRecord& r = record_of(framework);
    INFO(r.title);
    const SoftwareStack& stack = CalibrationSet::shipped().software_stack(r.current_stack);
    if (r.current_stack == "unknown")
      CHECK(r.stacks.empty());
    else
      CHECK(framework_of_stack(stack.framework) == framework);
  }
}

TEST_CASE("one GPU without anything is launched by every framework") {
  for (const Framework framework : all_frameworks) CHECK(inexpressible(framework, Strategy{}, NetworkFacts{}).empty());
  for (const Framework framework : all_frameworks) CHECK(inexpressible(framework, Training{}).empty());
}

Strategy pipelined(Schedule schedule) {
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = schedule;
  s.micro_batches = 8;
  return s;
}

TEST_CASE("a schedule that a framework does not have is named with those that it has") {
  CHECK(inexpressible(Framework::megatron_lm, pipelined(Schedule::zbv), NetworkFacts{}) ==
        std::vector<std::string>{"Megatron-LM has no schedule zbv; it has 1f1b and interleaved"});
  CHECK(inexpressible(Framework::deepspeed, pipelined(Schedule::gpipe), NetworkFacts{}) ==
        std::vector<std::string>{"DeepSpeed has no schedule gpipe; it has 1f1b"});
  CHECK(inexpressible(Framework::torchtitan, pipelined(Schedule::zbv), NetworkFacts{}).empty());
  CHECK(inexpressible(Framework::accelerate, pipelined(Schedule::one_f_one_b), NetworkFacts{}) ==
        std::vector<std::string>{"Accelerate has no pipelines"});
}

TEST_CASE("recompute modes and ZeRO stages are each framework's own") {
  Strategy s;
  s.recompute = {RecomputeMode::every_nth, 2};
  CHECK(inexpressible(Framework::torchtitan, s, NetworkFacts{}).empty());
  CHECK(inexpressible(Framework::megatron_lm, s, NetworkFacts{}).front() ==
        "Megatron-LM has no recompute every:2; it has none, selective, selective:MODULE+..., full, uniform:N, block:N, "
        "sqrt and offload:N");
  s.recompute = {RecomputeMode::offloaded, 4};
  CHECK(inexpressible(Framework::plumbline, s, NetworkFacts{}).empty());
  CHECK(inexpressible(Framework::torchtitan, s, NetworkFacts{}).size() == 1);
  s = {};
  s.data_parallel = 8;
  s.zero_stage = 1;
  s.shard_group = 8;
  CHECK(inexpressible(Framework::torchtitan, s, NetworkFacts{}) ==
        std::vector<std::string>{"torchtitan has no ZeRO-1; it has ZeRO-0, ZeRO-2 and ZeRO-3"});
  CHECK(inexpressible(Framework::megatron_lm, s, NetworkFacts{}).empty());
}

TEST_CASE("secondary shard groups are PyTorch's, DeepSpeed's and this program's own") {
  Strategy s;
  s.data_parallel = s.shard_group = 16;
  s.zero_stage = 3;
  s.secondary_shard_group = 8;
  for (const Framework framework : all_frameworks) {
    const std::vector<std::string> sentences = inexpressible(framework, s, NetworkFacts{});
    const bool has_it = framework == Framework::any || framework == Framework::pytorch ||
                        framework == Framework::deepspeed || framework == Framework::plumbline;
    INFO(to_text(framework));
    CHECK(sentences.empty() == has_it);
    if (!has_it)
      CHECK(std::find(sentences.begin(), sentences.end(),
                      std::string(record_of(framework).title) + " has no secondary shard groups") != sentences.end());
  }
}

// deepspeed/runtime/pipe/engine.py: "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism".
TEST_CASE("combinations that a framework refuses are refused") {
  Strategy s = pipelined(Schedule::one_f_one_b);
  s.data_parallel = 2;
  s.shard_group = 2;
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    s.zero_stage = zero;
    s.shard_group = zero == 0 ? 1 : 2;
    CHECK(inexpressible(Framework::deepspeed, s, NetworkFacts{}).empty() == (zero < 2));
  }
  Strategy experts;
  experts.tensor_parallel = 2;
  CHECK(inexpressible(Framework::megatron_lm, experts, NetworkFacts{}).empty());
  CHECK(inexpressible(Framework::megatron_lm, experts, NetworkFacts{.has_experts = true}).size() == 1);
  experts.sequence_parallel = SequenceParallel::on;
  CHECK(inexpressible(Framework::megatron_lm, experts, NetworkFacts{.has_experts = true}).empty());
  CHECK(inexpressible(Framework::deepspeed, experts, NetworkFacts{}) ==
        std::vector<std::string>{"DeepSpeed has no sequence parallelism alongside tensor parallelism"});
  Strategy replicated;
  replicated.data_parallel = 4;
  CHECK(inexpressible(Framework::torchtitan, replicated, NetworkFacts{}).empty());
  replicated.tensor_parallel = 2;
  replicated.sequence_parallel = SequenceParallel::on;
  CHECK(inexpressible(Framework::torchtitan, replicated, NetworkFacts{}).size() == 1);
  CHECK(inexpressible(Framework::accelerate, replicated, NetworkFacts{}).size() == 2);
}

// Of 0.19.8: utils/groups.py has meshes of data and tensor ranks and of data and sequence ranks alone, __init__.py
// asserts that a pipeline is given no groups, engine.py raises for AutoEP with ZeRO-3 and sequences.
TEST_CASE("DeepSpeed joins no two of tensor, context and pipeline parallelism, and says where that is read") {
  const auto sentences = [](std::int32_t tensor, std::int32_t context, std::int32_t stages) {
    Strategy s = stages > 1 ? pipelined(Schedule::one_f_one_b) : Strategy{};
    s.tensor_parallel = tensor;
    s.context_parallel = context;
    s.context_communication = ContextCommunication::all_to_all;
    s.pipeline_stages = stages;
    const std::vector<std::string> all = inexpressible(Framework::deepspeed, s, NetworkFacts{});
    CHECK(launches(record_of(Framework::deepspeed), s, NetworkFacts{}) == all.empty());
    return all;
  };
  for (const auto& [tensor, context, stages] : {std::array{3, 1, 1}, std::array{1, 2, 1}, std::array{1, 1, 4}})
    CHECK(sentences(tensor, context, stages).empty());
  CHECK(sentences(2, 2, 1) ==
        std::vector<std::string>{"DeepSpeed joins no tensor with context parallelism: its groups are of data-parallel "
                                 "ranks and of one of the two (deepspeed/utils/groups.py: _init_tp_mesh_device)"});
  CHECK_THAT(sentences(2, 1, 4).at(0), Catch::Matchers::ContainsSubstring("splits no tensors in a pipeline") &&
                                           Catch::Matchers::ContainsSubstring("(deepspeed/runtime/pipe/engine.py"));
  CHECK_THAT(sentences(1, 2, 4).at(0), Catch::Matchers::ContainsSubstring("splits no sequences in a pipeline") &&
                                           Catch::Matchers::ContainsSubstring("(deepspeed/__init__.py"));
  CHECK(sentences(2, 2, 4).size() == 3);
  Strategy experts;
  experts.expert_parallel = 2;
  experts.context_parallel = 2;
  experts.context_communication = ContextCommunication::all_to_all;
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    experts.zero_stage = zero;
    experts.shard_group = zero == 0 ? 1 : experts.gradient_ranks();
    CHECK(inexpressible(Framework::deepspeed, experts, NetworkFacts{.has_experts = true}).empty() == (zero < 3));
  }
}

// deepspeed/runtime/config.py of 0.19.8 asserts: "only supported with ZeRO Stage 1, 2, or 3".
TEST_CASE("DeepSpeed keeps no master weights in bf16 without ZeRO") {
  Strategy s;
  s.data_parallel = 4;
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    s.zero_stage = zero;
    s.shard_group = zero == 0 ? 1 : 4;
    const NetworkFacts pure{.precision = PrecisionRecipe::bf16_pure};
    CHECK(inexpressible(Framework::deepspeed, s, pure).empty() == (zero > 0));
    CHECK(inexpressible(Framework::deepspeed, s, NetworkFacts{}).empty());
  }
}

// bitsandbytes 0.50.2: its operators raise for DTensors. DeepSpeed's configuration names classes of torch.optim.
TEST_CASE(
    "8-bit AdamW is launched by Accelerate and Lightning where parameters are no DTensors, and not by DeepSpeed") {
  const NetworkFacts network{.optimizer = Optimizer::adamw_8bit};
  Strategy s;
  s.data_parallel = 4;
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    s.zero_stage = zero;
    s.shard_group = zero == 0 ? 1 : 4;
    CAPTURE(zero);
    CHECK(inexpressible(Framework::accelerate, s, network).empty() == (zero < 2));
    CHECK(inexpressible(Framework::lightning, s, network).empty());
    CHECK_FALSE(inexpressible(Framework::deepspeed, s, network).empty());
  }
}

// megatron/training/arguments.py since core_v0.18.0: args.optimizer in ('sgd', 'adam') with --use-megatron-fsdp.
TEST_CASE("Megatron-FSDP shards no states of Lion") {
  Strategy s;
  s.data_parallel = 4;
  for (const Optimizer optimizer : {Optimizer::lion, Optimizer::adamw, Optimizer::sgd})
    for (const std::int32_t zero : {0, 1, 2, 3}) {
      s.zero_stage = zero;
      s.shard_group = zero == 0 ? 1 : 4;
      CAPTURE(plumbline::to_text(optimizer), zero);
      const NetworkFacts network{.optimizer = optimizer};
      CHECK(inexpressible(Framework::megatron_lm, s, network).empty() == (optimizer != Optimizer::lion || zero < 2));
      CHECK(inexpressible(Framework::megatron_bridge, s, network).empty());
    }
}

TEST_CASE("a precision or an optimizer that a framework does not have is said") {
  Training training;
  training.precision = PrecisionRecipe::nvfp4;
  training.optimizer = Optimizer::muon;
  CHECK(inexpressible(Framework::megatron_lm, training).empty());
  CHECK(inexpressible(Framework::torchtitan, training) ==
        std::vector<std::string>{"torchtitan has no precision nvfp4; it has fp32, bf16, bf16-pure, fp8, "
                                 "fp8-row and mxfp8",
                                 "torchtitan has no optimizer muon; it has adam and adamw"});
  CHECK(inexpressible(Framework::deepspeed, training).size() == 1);  // the training script makes the optimizer
}

TEST_CASE("what is launched is what has no sentence against it, for every plan of a space") {
  const std::vector<Strategy> plans = legal_plans(question_of("gpt2", "dgx-h100", 8, 1024, 32));
  for (const Framework framework : all_frameworks) {
    if (framework == Framework::any) continue;
    std::size_t launched = 0;
    for (const Strategy& plan : plans) {
      const bool is_launched = launches(record_of(framework), plan, NetworkFacts{});
      launched += is_launched ? 1 : 0;
      REQUIRE(is_launched == inexpressible(framework, plan, NetworkFacts{}).empty());
    }
    CHECK(launched > 0);
    if (framework != Framework::plumbline) CHECK(launched < plans.size());  // none has all of these recompute modes
  }
}

}  // namespace
}  // namespace plumbline
