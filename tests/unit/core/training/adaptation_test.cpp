#include "core/training/adaptation.h"

#include "core/base/errors.h"
#include "core/cost/rank_parameters.h"
#include "core/graph/parameter_count.h"
#include "core/sharding/op_work.h"
#include "core/sharding/saved_tensors.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

constexpr LlamaShape shape{4, 64, 4, 2, 16, 176, 512};

Shard small_shard() {
  Shard shard;
  shard.lengths = {2, 32};
  return shard;
}

RankParameters parameters_of(const Graph& graph, const Shard& shard) {
  RankParameters sum;
  for (const BlockId id : graph.sequence()) sum += rank_parameters(graph.block(id), shard);
  return sum;
}

Graph frozen(const LlamaShape& s, std::vector<LayerRange> ranges, bool embeddings) {
  Adaptation adaptation;
  adaptation.frozen_layers = std::move(ranges);
  adaptation.freeze_embeddings = embeddings;
  return adapted(llama(s), adaptation);
}

Graph with_lora(const LlamaShape& s, std::int64_t rank) {
  Adaptation adaptation;
  adaptation.lora_rank = rank;
  return adapted(llama(s), adaptation);
}

// Query 64 x 64, key and value 64 x 32 each, output 64 x 64, gate and up 64 x 176 each, down 176 x 64; two norms of 64.
constexpr std::int64_t layer_parameters = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 176 + 2 * 64;
constexpr std::int64_t embedding = std::int64_t{512} * 64;

TEST_CASE("nothing adapted trains everything") {
  const Graph graph = adapted(llama(shape), {});
  const RankParameters p = parameters_of(graph, small_shard());
  CHECK(p.total() == 4 * layer_parameters + 2 * embedding + 64);
  CHECK(p.trained() == p.total());
  CHECK(graph_flops(graph, small_shard()).total() == graph_flops(llama(shape), small_shard()).total());
}

TEST_CASE("frozen layers and embeddings keep their weights and train none of them") {
  const Graph graph = frozen(shape, {{0, 1}, {3, 3}}, true);
  const RankParameters p = parameters_of(graph, small_shard());
  CHECK(p.total() == 4 * layer_parameters + 2 * embedding + 64);
  CHECK(p.trained() == layer_parameters + embedding + 64);  // layer 2, the head and the final norm
  CHECK(parameter_count(graph) == parameter_count(llama(shape)));
}

TEST_CASE("frozen embeddings freeze the head that shares their storage") {
  LlamaShape tied = shape;
  tied.tied = true;
  const RankParameters p = parameters_of(frozen(tied, {}, true), small_shard());
  CHECK(p.trained() == 4 * layer_parameters + 64);
  CHECK(without_tied(p).total() == 4 * layer_parameters + embedding + 64);
  CHECK(without_tied(p).trained() == 4 * layer_parameters + 64);
}

TEST_CASE("tied and trained, the copy of the embedding counts once") {
  LlamaShape tied = shape;
  tied.tied = true;
  const RankParameters p = without_tied(parameters_of(llama(tied), small_shard()));
  CHECK(p.total() == 4 * layer_parameters + embedding + 64);
  CHECK(p.trained() == p.total());
}

TEST_CASE("below the first trained layer there is no backward and nothing is kept for one") {
  const Graph graph = frozen(shape, {{0, 1}}, true);
  const Shard shard = small_shard();
  const std::vector<BlockId> sequence = graph.sequence();
  for (std::size_t i = 0; i < 3; ++i) {  // embedding, layers 0 and 1
    const Block& block = graph.block(sequence[i]);
    CHECK(block_flops(block, shard).backward() == Flops(0));
    CHECK(saved_tensors(block, shard).empty());
  }
  CHECK(block_flops(graph.block(sequence[3]), shard).backward() > Flops(0));
}

TEST_CASE("a frozen layer above a trained one keeps its input gradients and drops its weight gradients") {
  const Graph graph = frozen(shape, {{2, 2}}, false);
  const Shard shard = small_shard();
  const Block& layer = graph.block(graph.sequence()[3]);
  const BlockFlops whole = block_flops(first_layer(llama(shape)), shard);
  const BlockFlops flops = block_flops(layer, shard);
  CHECK(flops.forward == whole.forward);
  CHECK(flops.backward_input == whole.backward_input);
  CHECK(flops.backward_weight == Flops(0));
}

TEST_CASE("equal neighbours stay one run after freezing") {
  const Graph graph = frozen({12, 64, 4, 2, 16, 176, 512}, {{0, 3}, {8, 9}}, true);
  // embedding; frozen 0-3; trained 4 (its input needs no gradient); 5-7; frozen 8-9; trained 10-11; head
  CHECK(graph.runs().size() == 7);
  CHECK(graph.layer_count() == 12);
}

TEST_CASE("ranges outside the network are refused with the layers that there are") {
  for (const LayerRange range : {LayerRange{0, 4}, LayerRange{-1, 2}, LayerRange{3, 2}})
    CHECK_THROWS_AS(frozen(shape, {range}, false), InputError);
  CHECK_THROWS_WITH(frozen(shape, {{0, 4}}, false),
                    Catch::Matchers::ContainsSubstring("0-4") && Catch::Matchers::ContainsSubstring("between 0 and 3"));
}

// Seven linears of rank r: q (64 + 64), k and v (64 + 32 each), output (64 + 64), gate and up (64 + 176 each),
// down (176 + 64).
TEST_CASE("LoRA trains rank x (in + out) per linear of the layers and nothing else") {
  constexpr std::int64_t sides = (64 + 64) + 2 * (64 + 32) + (64 + 64) + 2 * (64 + 176) + (176 + 64);
  for (const std::int64_t rank : {1, 8, 16}) {
    const Graph graph = with_lora(shape, rank);
    const RankParameters p = parameters_of(graph, small_shard());
    CHECK(p.trained() == 4 * rank * sides);
    CHECK(p.total() == 4 * layer_parameters + 2 * embedding + 64 + 4 * rank * sides);
  }
}

// Forward: every linear's tokens x rank x (in + out) twice. Weight gradients: of the adapters only, as many again.
TEST_CASE("LoRA pays weight-gradient products for its adapters only") {
  constexpr std::int64_t rank = 8;
  constexpr std::int64_t sides = (64 + 64) + 2 * (64 + 32) + (64 + 64) + 2 * (64 + 176) + (176 + 64);
  constexpr double adapter_products = 2.0 * 64 * rank * sides;  // 2 x 32 tokens
  const Shard shard = small_shard();
  const BlockFlops base = graph_flops(llama(shape), shard);
  const BlockFlops flops = graph_flops(with_lora(shape, rank), shard);
  CHECK(flops.forward.value() == base.forward.value() + 4 * adapter_products);
  CHECK(flops.backward_weight.value() == 4 * adapter_products);
  CHECK(flops.backward_input < base.backward_input + Flops(4 * adapter_products));
}

TEST_CASE("LoRA keeps gradients and optimizer state for its adapters only") {
  const Graph graph = with_lora(shape, 8);
  const RankParameters p = parameters_of(graph, small_shard());
  const ModelState state = model_state(p, precision_formats(PrecisionRecipe::bf16), Optimizer::adamw, 0, ShardRanks{});
  CHECK(state.weights == Bytes(2 * p.total()));
  CHECK(state.gradients == Bytes(2 * p.trained()));
  CHECK(state.master_weights == Bytes(4 * p.trained()));
  CHECK(state.optimizer_state == Bytes(8 * p.trained()));
}

// Column linears divide the adapter's second matrix, row linears the first; the other half is whole on every rank.
TEST_CASE("tensor parallelism divides the half of an adapter that faces the divided side") {
  constexpr std::int64_t rank = 8;
  Shard shard = small_shard();
  shard.tensor_parallel = 2;
  const RankParameters p = parameters_of(with_lora(shape, rank), shard);
  constexpr std::int64_t columns = (64 + 32) + 2 * (64 + 16) + 2 * (64 + 88);
  constexpr std::int64_t rows = (32 + 64) + (88 + 64);
  CHECK(p.trained() == 4 * rank * (columns + rows));
}

// Fused query-key-value alone: rank 8 alongside 64 -> 64, 64 -> 32 and 64 -> 32.
TEST_CASE("adapters alongside queries, keys and values alone leave the other linears as they are") {
  Adaptation adaptation;
  adaptation.lora_rank = 8;
  adaptation.lora_targets = LoraTargets::queries_keys_values;
  const Graph graph = adapted(llama(shape), adaptation);
  const RankParameters p = parameters_of(graph, small_shard());
  CHECK(p.trained() == std::int64_t{4} * 8 * ((64 + 64) + (64 + 32) + (64 + 32)));
  CHECK(p.total() == 4 * layer_parameters + 2 * embedding + 64 + p.trained());
}

// The same and 64 -> 64 behind attention.
TEST_CASE("adapters of attention stand beside queries, keys, values and the projection behind them") {
  Adaptation adaptation;
  adaptation.lora_rank = 8;
  adaptation.lora_targets = LoraTargets::attention;
  const RankParameters p = parameters_of(adapted(llama(shape), adaptation), small_shard());
  CHECK(p.trained() == std::int64_t{4} * 8 * ((64 + 64) + (64 + 32) + (64 + 32) + (64 + 64)));
}

// Of a layer of 64 features, 176 inner ones and adapters of rank 8 in bf16, for each token: with all linears adapted
// the inputs of gate and up (64, once), and of down (176), and what A of gate, up and down wrote (3 x 8) wait for
// weight gradients; with attention's alone none of them does.
TEST_CASE("inputs of linears without adapters are not kept") {
  const auto saved = [](LoraTargets targets) {
    Adaptation adaptation;
    adaptation.lora_rank = 8;
    adaptation.lora_targets = targets;
    const Graph graph = adapted(llama(shape), adaptation);
    const Shard shard = small_shard();
    Bytes sum(0);
    for (const SavedTensor& tensor : saved_tensors(first_layer(graph), shard)) sum += tensor.bytes;
    const std::int64_t tokens = shard.lengths.batch * shard.lengths.sequence;
    return sum.value() / tokens;
  };
  CHECK(saved(LoraTargets::every_linear) - saved(LoraTargets::attention) == std::int64_t{2} * (64 + 176 + 3 * 8));
}

}  // namespace
}  // namespace plumbline
