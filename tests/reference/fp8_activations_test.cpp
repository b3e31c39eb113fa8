// What Transformer Engine and Megatron-Core keep of activations, a layer worked by hand.

#include "core/sharding/saved_tensors.h"

#include "core/cost/block_cost.h"
#include "core/cost/recompute_modules.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::fp8_activations_test {
namespace {

constexpr std::int64_t tokens = 2048;
constexpr std::int64_t hidden = 4096;
constexpr std::int64_t width = 14336;

Shard shard(ProductInputs inputs, PrecisionRecipe precision = PrecisionRecipe::fp8) {
  Shard result;
  result.lengths = {1, tokens};
  result.formats = precision_formats(precision);
  result.kept.product_inputs = inputs;
  return result;
}

double kept(const Block& block, const Shard& shard) {
  Bytes sum(0);
  for (const SavedTensor& tensor : saved_tensors(block, shard)) sum += tensor.bytes;
  return sum / Bytes(tokens);
}

// A layer of Llama 3 8B in bf16 keeps, a token: the inputs of two norms and what they make (4 x 2 h and a deviation
// each), queries, keys and values (2 (h + 2 x 1024)), what attention makes (2 h and 4 bytes for each of 32 heads),
// gate and up (2 x 2 w) and the input of down (2 w). In fp8 the inputs of qkv, gate_up and down take a byte a feature,
// and the output projection keeps a copy of its own alongside attention's, unless it shares it.
TEST_CASE("fp8 products keep their inputs in fp8, alongside what norms and attention keep") {
  const Graph graph = llama({2, hidden, 32, 8, 128, width, 128256});
  const Block& layer = first_layer(graph);
  const double in_16_bits =
      4.0 * 2 * hidden + 2.0 * 4 + 2.0 * (hidden + 2.0 * 1024) + 2 * hidden + 4.0 * 32 + 6 * width;
  CHECK(kept(layer, shard(ProductInputs::as_read)) == in_16_bits);
  CHECK(kept(layer, shard(ProductInputs::as_multiplied, PrecisionRecipe::bf16)) == in_16_bits);
  CHECK(kept(layer, shard(ProductInputs::as_multiplied)) == in_16_bits - 2 * hidden - width + hidden);
  CHECK(kept(layer, shard(ProductInputs::shared)) == in_16_bits - 2 * hidden - width);
}

// Gate and up take a byte a feature instead of two where Megatron-Core stores them so (activation_func_fp8_input_store,
// fusions/fused_bias_swiglu.py), whatever the products multiply; a gate that runs again keeps no copy, but what it
// reads.
TEST_CASE("a gate that stores its inputs in 8 bits keeps half of them") {
  const Graph graph = llama({2, hidden, 32, 8, 128, width, 128256});
  const Block& layer = first_layer(graph);
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16, PrecisionRecipe::fp8}) {
    const Shard read = shard(ProductInputs::as_multiplied, precision);
    Shard stored = read;
    stored.kept.gate_inputs = GateInputs::in_8_bits;
    CHECK(kept(layer, read) - kept(layer, stored) == 2 * width);
    Replay again{std::vector<bool>(layer.ops().size(), false), RecomputeMode::modules};
    for (std::size_t i = 0; i < layer.ops().size(); ++i)
      again.replayed[i] = layer.op(layer.execution_order()[i]).kind == OpKind::gated_activation;
    CHECK(kept_bytes(layer, stored, again) == kept_bytes(layer, read, again));
  }
}

// Mixtral: 2 of 8 experts, gated. Megatron-Core from 0.12 scales what the activation makes, in one kernel, so that
// nobody keeps what experts return: 2 bytes of 4096 features for each choice.
TEST_CASE("weighted activations: what experts return is not kept") {
  const Graph graph = find_network("mixtral-8x7b").graph;
  Shard after = shard(ProductInputs::as_read, PrecisionRecipe::bf16);
  Shard inside = after;
  inside.kept.expert_weighting = ExpertWeighting::of_activations;
  CHECK(kept(first_layer(graph), after) - kept(first_layer(graph), inside) == 2.0 * 2 * hidden);
}

// gpt-oss: 4 experts of 2880 features a token. Clamps outside of the gate's kernel keep what they read, and the kernel
// what they make: gate and up once more, 2 x 2 bytes of 2880 features for each choice. Run again, neither is kept.
TEST_CASE("limits outside of a gate's kernel keep a copy of both its inputs") {
  const Graph graph = find_network("gpt-oss-20b").graph;
  const Block& layer = first_layer(graph);
  const Shard fused = shard(ProductInputs::as_read, PrecisionRecipe::bf16);
  Shard apart = fused;
  apart.kept.limited_gates = LimitedGates::copied;
  CHECK(kept(layer, apart) - kept(layer, fused) == 2 * 2 * 2880 * 4);
  const Replay replay{replayed_by_modules(layer, recompute_from_text("selective:moe_act")->modules),
                      RecomputeMode::modules};
  CHECK(kept_bytes(layer, apart, replay) == kept_bytes(layer, fused, replay));
}

}  // namespace
}  // namespace plumbline::fp8_activations_test
