// What a question chooses of its stack by words that stand for several values of a trait.

#include "planner/stacks/stack_choices.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/session/estimate.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::stack_choices_test {
namespace {

const StackChoiceField& field(std::string_view name) {
  for (const StackChoiceField& one : stack_choice_fields())
    if (one.name == name) return one;
  FAIL("no choice " << name);
  return stack_choice_fields().front();
}

std::string with_graphs(std::string_view stack, const char* word) {
  StackChoices choices;
  choices.cuda_graphs = word;
  return stack_with(stack, choices);
}

std::string with_overlap(std::string_view stack, const char* word) {
  StackChoices choices;
  choices.tp_comm_overlap = word;
  return stack_with(stack, choices);
}

TEST_CASE("what replays as CUDA graphs is a value of the trait of launches") {
  CHECK(field("cuda_graphs").flag() == "--cuda-graphs");
  CHECK(field("cuda_graphs").words() == std::vector<std::string>{"none", "partial", "layers", "iteration"});
  CHECK(with_graphs("megatron-core-0.12", "layers") == "megatron-core-0.12+launch=layer_graphs");
  CHECK(with_graphs("nemo-fp8", "iteration") == "nemo-fp8+launch=cuda_graphs");
  CHECK(with_graphs("megatron-core-0.12", "none") == "megatron-core-0.12");
  CHECK(with_graphs("torchtitan-2024.12", "none") == "torchtitan-2024.12");  // launched by generated code
  CHECK(with_graphs("nemo-fp8+launch=cuda_graphs", "none") == "nemo-fp8");
  CHECK(choices_of_stack("megatron-bridge-26.06-graphs").cuda_graphs == "iteration");
  CHECK(choices_of_stack("megatron-bridge-26.02-partial-graphs").cuda_graphs == "partial");
}

TEST_CASE("a stack with graphs launches without them as the one that it is like") {
  CHECK(with_graphs("megatron-bridge-25.09-graphs", "none") == "megatron-bridge-25.09-graphs+launch=eager_te");
  CHECK(with_graphs("megatron-bridge-25.09-graphs", "iteration") == "megatron-bridge-25.09-graphs");
}

TEST_CASE("overlap of tensor-parallel collectives is that of the stack's library") {
  CHECK(field("tp_comm_overlap").flag() == "--tp-comm-overlap");
  CHECK(choices_of_stack("megatron-core-0.12").tp_comm_overlap == "on");
  CHECK(choices_of_stack("megatron-core-lora").tp_comm_overlap == "off");
  CHECK(with_overlap("megatron-core-0.12", "on") == "megatron-core-0.12");
  CHECK(with_overlap("megatron-core-0.12", "off") == "megatron-core-0.12+tensor_parallel_overlap=none");
  CHECK(with_overlap("megatron-core-lora", "on") == "megatron-core-lora+tensor_parallel_overlap=userbuffers");
  CHECK(with_overlap("torchtitan-2026.03", "on") == "torchtitan-2026.03+tensor_parallel_overlap=async");
}

double step_seconds(const char* graphs, std::int64_t sequence_length) {
  session::StrategyRequest request;
  request.question = question_text("llama-3-8b", "gb200-nvl72", 8, sequence_length, 8);
  request.question.stack = "megatron-core-0.12";
  request.question.choices.cuda_graphs = graphs;
  request.strategy.strategy.zero_stage = 1;
  return session::estimate(request).plan.prediction.step_time_s.expected;
}

// 512 tokens of 8 billion parameters keep a GB200 busy for 26 ms, whose thousand kernels the host launches in 83 ms by
// Transformer Engine; behind them 8 billion gradients are reduced and parameters updated.
TEST_CASE("steps that wait for the host take the device's time under graphs, others what they took") {
  const double launched = step_seconds("none", 512);
  CHECK(step_seconds("layers", 512) < 0.8 * launched);
  CHECK(step_seconds("layers", 512) == Approx(step_seconds("iteration", 512)).epsilon(1e-3));
  CHECK(step_seconds("iteration", 8192) > launched);
  CHECK(step_seconds("iteration", 8192) == Approx(step_seconds("none", 8192)).epsilon(1e-3));
}

}  // namespace
}  // namespace plumbline::stack_choices_test
