// Kernels per operator of a GPT layer, counted by hand.

#include "core/cost/launches.h"

#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
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
    const Launches one = launches(op, op_work(block, op, shard), NumberFormat::bf16, shard.flash_attention, stack);
    sum.forward += one.forward;
    sum.backward += one.backward;
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
}

TEST_CASE("composed operators launch more, products and attention do not") {
  const Launches fused = layer(llama(shape), attention(FlashAttention::on), stack_with(1, 0));
  const Launches composed = layer(llama(shape), attention(FlashAttention::on), stack_with(3, 0));
  CHECK(composed.forward == 4 + 1 + 3 * 7);
  CHECK(composed.backward - fused.backward == 2 * 9);
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

}  // namespace
}  // namespace plumbline
