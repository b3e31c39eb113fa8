// Kernels per operator of a GPT layer, counted by hand.

#include "core/cost/launches.h"

#include "core/cost/block_cost.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::launches_test {
namespace {

constexpr std::int64_t sequence = 512;
const LlamaShape shape{2, 1024, 16, 8, 64, 2816, 32000};

StackCalibration stack_with(double per_operator, double per_expert) {
  StackCalibration stack = round_calibration().stack;
  stack.host.kernels_per_operator.value = per_operator;
  stack.experts.kernels_per_expert.value = per_expert;
  return stack;
}

Launches layer(const Graph& graph, const Strategy& s, const StackCalibration& stack) {
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 8;
  const Shard shard = shard_of(s, training);
  Launches sum;
  const Block& block = first_layer(graph);
  for (const Op& op : block.ops()) {
    const Launches one = launches(op, op_work(block, op, shard), CastKernels{}, shard.flash_attention, stack);
    sum.forward += one.forward;
    sum.backward += one.backward;
    sum.backward_weight += one.backward_weight;
  }
  return sum;
}

Strategy attention(FlashAttention flash, std::int32_t micro_batch = 1) {
  Strategy s;
  s.flash_attention = flash;
  s.micro_batch = micro_batch;
  return s;
}

// Forward: products of query-key-value, output, gate-up and down; attention; two norms, rotary embeddings of queries
// and of keys, the gated activation and two additions. Backward: two products each; attention in two; norms in two
// each.
TEST_CASE("a Llama layer launches 12 kernels forward and 19 backward") {
  const Launches fused = layer(llama(shape), attention(FlashAttention::on), stack_with(1, 0));
  CHECK(fused.forward == 4 + 1 + 2 + 2 + 1 + 2);
  CHECK(fused.backward == 8 + 2 + 4 + 2 + 1 + 2);
  CHECK(fused.backward_weight == 4);
}

TEST_CASE("composed operators launch more, products and attention do not") {
  const Launches fused = layer(llama(shape), attention(FlashAttention::on), stack_with(1, 0));
  const Launches composed = layer(llama(shape), attention(FlashAttention::on), stack_with(3, 0));
  CHECK(composed.forward == 4 + 1 + 3 * 7);
  CHECK(composed.backward - fused.backward == 2 * 9);
  CHECK(composed.backward_weight == fused.backward_weight);
}

// 16 heads of one sequence are four times four matrices; 16 / 8 heads of one sequence are two.
TEST_CASE("unfused attention launches a composed softmax where its matrices do not come by fours") {
  const Launches fused = layer(llama(shape), attention(FlashAttention::on), stack_with(1, 0));
  Strategy s = attention(FlashAttention::off);
  CHECK(layer(llama(shape), s, stack_with(1, 0)).forward == fused.forward + 3);
  s.tensor_parallel = 8;
  CHECK(layer(llama(shape), s, stack_with(1, 0)).forward == fused.forward + 3 + 4);
  s.micro_batch = 2;
  CHECK(layer(llama(shape), s, stack_with(1, 0)).forward == fused.forward + 3);
}

TEST_CASE("experts without a grouped kernel launch one product each") {
  LlamaShape mixture = shape;
  mixture.experts = 8;
  mixture.chosen = 2;
  mixture.expert_width = 704;
  Strategy s = attention(FlashAttention::on);
  const auto more = [&] {
    const Launches grouped = layer(llama(mixture), s, stack_with(1, 0));
    const Launches single = layer(llama(mixture), s, stack_with(1, 1));
    return std::pair(single.forward - grouped.forward, single.backward - grouped.backward);
  };
  CHECK(more() == std::pair(2.0 * 7, 4.0 * 7));
  s.data_parallel = s.expert_parallel = 4;
  CHECK(more() == std::pair(2.0 * 1, 4.0 * 1));
}

// 32 experts. Biases of the second product: two kernels an expert and joining them, four and joining back; of the first
// one and one. Two rotations of 6 and 5 kernels in place of one.
TEST_CASE("biases of experts, limits and scaled rotations that are written out launch more") {
  const Graph gpt_oss = find_network("gpt-oss-20b").graph;
  const auto more = [&](auto change) {
    StackCalibration stack = stack_with(1, 0);
    stack.features.expert_biases = ExpertBiases::fused;
    stack.features.kept.limited_gates = LimitedGates::fused;
    stack.features.scaled_rotations = OperatorKernels::fused;
    const Launches fused = layer(gpt_oss, attention(FlashAttention::on), stack);
    change(stack.features);
    const Launches own = layer(gpt_oss, attention(FlashAttention::on), stack);
    CHECK(own.backward_weight == fused.backward_weight);
    return std::pair(own.forward - fused.forward, own.backward - fused.backward);
  };
  CHECK(more([](StackFeatures& f) { f.expert_biases = ExpertBiases::second_by_expert; }) ==
        std::pair(2.0 * 32 + 1, 4.0 * 32 + 1));
  CHECK(more([](StackFeatures& f) { f.expert_biases = ExpertBiases::by_expert; }) ==
        std::pair(3.0 * 32 + 2, 5.0 * 32 + 2));
  CHECK(more([](StackFeatures& f) { f.kept.limited_gates = LimitedGates::copied; }) == std::pair(3.0, 3.0));
  CHECK(more([](StackFeatures& f) { f.scaled_rotations = OperatorKernels::primitive; }) == std::pair(2.0 * 5, 2.0 * 4));
}

// Router 8 and 6, dispatch 4 and 2, combination 2 and 2; the router's own product is launched once whatever composes
// the rest, and so is what is not routing.
TEST_CASE("composed routing launches more, whatever fuses the other operators") {
  LlamaShape mixture = shape;
  mixture.experts = 8;
  mixture.chosen = 2;
  mixture.expert_width = 704;
  const auto with_routing = [&](double per_operator, double kernels_per_routing) {
    StackCalibration stack = stack_with(per_operator, 0);
    stack.experts.kernels_per_routing.value = kernels_per_routing;
    return layer(llama(mixture), attention(FlashAttention::on), stack);
  };
  for (const double per_operator : {0.5, 1.0, 3.0}) {
    const Launches fused = with_routing(per_operator, 1);
    const Launches composed = with_routing(per_operator, 5);
    CHECK(composed.forward - fused.forward == 4 * (8 + 4 + 2));
    CHECK(composed.backward - fused.backward == 4 * (6 + 2 + 2));
  }
}

}  // namespace
}  // namespace plumbline::launches_test
