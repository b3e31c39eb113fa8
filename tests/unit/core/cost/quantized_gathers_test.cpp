// Bytes that tensor-parallel ranks of a Llama layer send, by what they gather: counted by hand.
#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::quantized_gathers_test {
namespace {

constexpr std::int64_t sequence = 720;
constexpr std::int64_t hidden = 2304;

struct Sent {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  bool operator==(const Sent&) const = default;
};

WireBytes wire(BlockPass pass, std::int32_t ranks, PrecisionRecipe recipe, ProductInputs inputs,
               QuantizedGathers gathers = QuantizedGathers::as_multiplied) {
  const Graph graph = llama(LlamaShape{2, hidden, 12, 6, 192, 5760, 32000});
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 8;
  training.precision = recipe;
  Strategy s;
  s.tensor_parallel = ranks;
  s.sequence_parallel = SequenceParallel::on;
  Shard shard = shard_of(s, training);
  shard.kept.product_inputs = inputs;
  Calibration calibration = round_calibration();
  calibration.stack.features.fp8_gathers = gathers;
  const Cluster cluster = round_cluster(1);
  const BlockCost cost = BlockPricer(cluster, calibration).price(first_layer(graph), shard, block_groups(s));
  return pass == BlockPass::forward ? cost.wire_forward : cost.wire_backward;
}

/// What a rank sends to gather a tensor of activations in 8 bits: all but its own share.
std::int64_t in_8_bits(std::int32_t ranks) { return sequence * hidden * (ranks - 1) / ranks; }

/// In gathers of 8 bits. In 16 bits one is 2.
Sent sent(std::int32_t ranks, PrecisionRecipe recipe, ProductInputs inputs,
          QuantizedGathers gathers = QuantizedGathers::as_multiplied) {
  const std::int64_t forward = wire(BlockPass::forward, ranks, recipe, inputs, gathers).tensor.value();
  const std::int64_t backward = wire(BlockPass::backward, ranks, recipe, inputs, gathers).tensor.value();
  CHECK(forward % in_8_bits(ranks) == 0);
  return {forward / in_8_bits(ranks), backward / in_8_bits(ranks)};
}

constexpr auto transformer_engine = ProductInputs::as_multiplied;
constexpr auto torchao = ProductInputs::as_read;

// Forward two gathers and two scatters; backward two gathers of gradients, two scatters, and both inputs gathered
// again.
constexpr std::int64_t in_two_bytes = 2;
constexpr Sent in_16_bits{4 * in_two_bytes, 6 * in_two_bytes};
constexpr Sent in_fp8{2 * 1 + 2 * 2, 2 * 1 + 2 * 2 + 2 * 1};

}  // namespace

TEST_CASE("ranks gather what they cast before: Transformer Engine all but rows, torchao whole tensors alone") {
  for (const std::int32_t ranks : {2, 3, 6}) {
    CAPTURE(ranks);
    CHECK(sent(ranks, PrecisionRecipe::fp8, transformer_engine) == in_fp8);
    CHECK(sent(ranks, PrecisionRecipe::fp8_delayed, transformer_engine) == in_fp8);
    CHECK(sent(ranks, PrecisionRecipe::fp8_block, transformer_engine) == in_fp8);
    CHECK(sent(ranks, PrecisionRecipe::fp8, torchao) == in_fp8);
    CHECK(sent(ranks, PrecisionRecipe::fp8_row, transformer_engine) == in_16_bits);
    CHECK(sent(ranks, PrecisionRecipe::fp8_row, torchao) == in_16_bits);
    CHECK(sent(ranks, PrecisionRecipe::fp8_block, torchao) == in_16_bits);
  }
}

// Transformer Engine, pytorch/distributed.py: _all_gather_nvfp4. Sixteen numbers share a scale of eight bits.
TEST_CASE("nvfp4 is gathered in four bits with its scales, and scattered in sixteen") {
  for (const std::int32_t ranks : {2, 3, 6}) {
    CAPTURE(ranks);
    const std::int64_t in_nvfp4 = in_8_bits(ranks) * 9 / 16;
    const std::int64_t unquantised = 2 * in_8_bits(ranks);
    const auto of = [&](BlockPass pass) {
      return wire(pass, ranks, PrecisionRecipe::nvfp4, transformer_engine).tensor.value();
    };
    CHECK(of(BlockPass::forward) == 2 * in_nvfp4 + 2 * unquantised);
    CHECK(of(BlockPass::backward) == 4 * in_nvfp4 + 2 * unquantised);
  }
}

TEST_CASE("a stack that gathers before it casts sends 16 bits, as does one that casts nothing") {
  CHECK(sent(3, PrecisionRecipe::fp8, transformer_engine, QuantizedGathers::as_read) == in_16_bits);
  CHECK(sent(3, PrecisionRecipe::bf16, transformer_engine) == in_16_bits);
}

}  // namespace plumbline::quantized_gathers_test
