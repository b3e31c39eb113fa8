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

/// In what a rank sends to gather a tensor of activations in 8 bits: all but its own share. In 16 bits that is 2.
Sent sent(std::int32_t ranks, PrecisionRecipe recipe, ProductInputs inputs,
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
  const std::int64_t in_8_bits = sequence * hidden * (ranks - 1) / ranks;
  CHECK(cost.wire_forward.tensor.value() % in_8_bits == 0);
  return {cost.wire_forward.tensor.value() / in_8_bits, cost.wire_backward.tensor.value() / in_8_bits};
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

TEST_CASE("a stack that gathers before it casts sends 16 bits, as does one that casts nothing") {
  CHECK(sent(3, PrecisionRecipe::fp8, transformer_engine, QuantizedGathers::as_read) == in_16_bits);
  CHECK(sent(3, PrecisionRecipe::bf16, transformer_engine) == in_16_bits);
}

}  // namespace plumbline::quantized_gathers_test
