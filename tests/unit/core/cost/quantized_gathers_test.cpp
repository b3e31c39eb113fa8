// Bytes that two tensor-parallel ranks of a Llama layer send, by what they gather: counted by hand.
#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

constexpr std::int64_t sequence = 512;
constexpr std::int64_t hidden = 1024;

struct Sent {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  bool operator==(const Sent&) const = default;
};

/// In halves of a tensor of 16-bit activations, which a rank of two sends in a gather or a scatter.
Sent sent(PrecisionRecipe recipe, ProductInputs inputs, QuantizedGathers gathers = QuantizedGathers::as_multiplied) {
  const Graph graph = llama(LlamaShape{2, hidden, 16, 8, 64, 2816, 32000});
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 8;
  training.precision = recipe;
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  Shard shard = shard_of(s, training);
  shard.kept.product_inputs = inputs;
  Calibration calibration = round_calibration();
  calibration.stack.features.fp8_gathers = gathers;
  const Cluster cluster = round_cluster(1);
  const BlockCost cost = BlockPricer(cluster, calibration).price(first_layer(graph), shard, block_groups(s));
  constexpr std::int64_t quarter = sequence * hidden / 2;
  CHECK(cost.wire_forward.tensor.value() % quarter == 0);
  return {cost.wire_forward.tensor.value() / quarter, cost.wire_backward.tensor.value() / quarter};
}

constexpr auto transformer_engine = ProductInputs::as_multiplied;
constexpr auto torchao = ProductInputs::as_read;

// In quarters of what 16 bits would take forward: two gathers and two scatters of two each; backward two gathers of
// gradients, two scatters, and both inputs gathered again.
constexpr Sent in_16_bits{8, 12};
constexpr Sent in_fp8{2 * 1 + 2 * 2, 2 * 1 + 2 * 2 + 2 * 1};

}  // namespace

TEST_CASE("ranks gather what they cast before: Transformer Engine all but rows, torchao whole tensors alone") {
  for (const PrecisionRecipe recipe :
       {PrecisionRecipe::fp8, PrecisionRecipe::fp8_delayed, PrecisionRecipe::fp8_block}) {
    CAPTURE(to_text(recipe));
    CHECK(sent(recipe, transformer_engine) == in_fp8);
  }
  CHECK(sent(PrecisionRecipe::fp8, torchao) == in_fp8);
  CHECK(sent(PrecisionRecipe::fp8_row, transformer_engine) == in_16_bits);
  CHECK(sent(PrecisionRecipe::fp8_row, torchao) == in_16_bits);
  CHECK(sent(PrecisionRecipe::fp8_block, torchao) == in_16_bits);
}

TEST_CASE("a stack that gathers before it casts sends 16 bits, as does one that casts nothing") {
  CHECK(sent(PrecisionRecipe::fp8, transformer_engine, QuantizedGathers::as_read) == in_16_bits);
  CHECK(sent(PrecisionRecipe::bf16, transformer_engine) == in_16_bits);
}

}  // namespace plumbline
