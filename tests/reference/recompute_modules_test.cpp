// Recompute of chosen modules against Megatron-Core's own account of them, a layer of DeepSeek-V3 worked by hand.

#include "core/cost/recompute_modules.h"
#include "core/cost/block_cost.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/machines.h"

namespace plumbline {
namespace {

constexpr std::int64_t tokens = 4096;

/// The layers with experts.
const Block& mixture_layer(const Graph& graph) {
  for (const BlockRun& run : graph.runs())
    for (const Op& op : graph.block(run.block).ops())
      if (op.kind == OpKind::router) return graph.block(run.block);
  throw std::logic_error("a network with experts");
}

Shard shard(PrecisionRecipe precision = PrecisionRecipe::bf16) {
  Shard result;
  result.lengths = {1, tokens};
  result.formats = precision_formats(precision);
  return result;
}

Recompute selective(const std::string& modules) { return recompute_from_text("selective:" + modules).value(); }

/// Bytes of a token that recomputing the modules drops.
double dropped(const Shard& shard, const std::string& modules) {
  const Graph graph = find_network("deepseek-v3").graph;
  const Block& layer = mixture_layer(graph);
  const Replay replay{replayed_by_modules(layer, selective(modules).modules), RecomputeMode::modules};
  return (kept_bytes(layer, shard, {}) - kept_bytes(layer, shard, replay)) / Bytes(tokens);
}

// Queries and keys of 128 heads of 192 features, values of 128 features: 2 (24576 + 24576 + 16384) bytes. The norms of
// the compressed query (1536) and state (512), which Transformer Engine fuses into the up-projections, drop their
// outputs and a deviation each: 2 (1536 + 512) + 2 x 4. The rotated part of the key, 64 features, is kept to be
// rotated again.
TEST_CASE("mla_up_proj: queries, keys and values are made again from what is compressed") {
  CHECK(dropped(shard(), "mla_up_proj") == 2 * (24576 + 24576 + 16384) + 2 * (1536 + 512) + 2 * 4 - 2 * 64);
}

// 8 experts of 2048 features.
TEST_CASE("moe_act: what experts' activations make is made again, in fp8 as in 16 bits") {
  CHECK(dropped(shard(), "moe_act") == 2 * 8 * 2048);
  Shard fp8 = shard(PrecisionRecipe::fp8);
  fp8.kept.product_inputs = ProductInputs::as_multiplied;
  CHECK(dropped(fp8, "moe_act") == 8 * 2048);
}

// Both norms: their outputs of 7168 features and a deviation each.
TEST_CASE("layernorm: the norms before attention and experts run again") {
  CHECK(dropped(shard(), "layernorm") == 2 * (2 * 7168 + 4));
}

// Gate and up of the one shared expert of 2048 features, and what its activation makes.
TEST_CASE("shared_experts: their inner features are made again") {
  CHECK(dropped(shard(), "shared_experts") == 2 * 3 * 2048);
}

TEST_CASE("a module that a layer does not have changes nothing") {
  CHECK(dropped(shard(), "mlp") == 0);
  const Graph graph = find_network("llama-3-8b").graph;
  for (const Block& block : graph.blocks())
    for (const bool replayed : replayed_by_modules(block, selective("mla_up_proj+moe_act+shared_experts").modules))
      CHECK_FALSE(replayed);
}

// 128 x (2048 + 2 x 7168 + 2048) products... the up-projections: 2 x (1536 x 24576 + 512 x 32768) FLOPs a token.
TEST_CASE("a replay of mla_up_proj costs its two products") {
  const Graph graph = find_network("deepseek-v3").graph;
  const BlockPricer pricer(round_cluster(1), round_calibration());
  Strategy s;
  s.recompute = selective("mla_up_proj");
  Training training;
  training.sequence_length = tokens;
  const BlockCost cost = pricer.price(mixture_layer(graph), shard_of(s, training), block_groups(s));
  const VariantSizes& variant = cost.variant(Variant::modules);
  const double products = 2.0 * tokens * (1536.0 * 24576 + 512.0 * 32768);
  CHECK(variant.flops.value() == Approx(products).epsilon(0.001));
  const Picoseconds replay = cost.times(Variant::modules).recompute.total();
  CHECK(replay > Picoseconds(0));
  CHECK(replay < cost.forward.total() / std::int64_t{4});
  CHECK(variant.memory.saved + Bytes(135048 * tokens) == cost.memory().saved);
}

TEST_CASE("sets of modules are read and written alike; the attention core alone is selective recompute") {
  for (const char* text : {"selective:moe_act", "selective:layernorm+mla_up_proj+mlp", "offload:40", "every:4", "full"})
    CHECK(to_text(recompute_from_text(text).value()) == text);
  CHECK(to_text(recompute_from_text("selective:mlp+mla_up_proj").value()) == "selective:mla_up_proj+mlp");
  CHECK(recompute_from_text("selective:core_attn") == recompute_from_text("selective"));
  for (const char* text :
       {"selective:", "selective:moe", "selective:attention", "selective:mlp+", "offload:0", "offload:"})
    CHECK(recompute_from_text(text).has_value() == (std::string_view(text) == "selective:moe"));
}

// Megatron-Bridge's recipe of Moonlight on 8 H100 (tp 2, ep 8), peaks allocated: 36.618 GB, with moe_act 35.941,
// with mla_up_proj and the dense layer's MLP 35.917: 0.68 and 0.70 GB less. A peak falls by less than what is no longer
// kept, because what runs again is alongside it.
TEST_CASE("Moonlight: recomputing moe_act and mla_up_proj saves at least what Megatron-Bridge's peaks fell by") {
  const Graph graph = find_network("moonlight-16b-a3b").graph;
  const auto saves = [&](const char* modules) {
    Shard s = shard();
    s.tensor_parallel = 2;
    s.expert_parallel = 8;
    s.sequence_parallel = SequenceParallel::on;
    s.kept.expert_weighting = ExpertWeighting::of_activations;
    Bytes saved(0);
    for (const BlockRun& run : graph.runs()) {
      const Block& block = graph.block(run.block);
      if (block.kind() != BlockKind::layer) continue;
      const Replay replay{replayed_by_modules(block, selective(modules).modules), RecomputeMode::modules};
      saved += run.count * (kept_bytes(block, s, {}) - kept_bytes(block, s, replay));
    }
    return saved / Bytes(1'000'000'000);
  };
  const double activations = saves("moe_act");
  const double projections = saves("mla_up_proj+mlp");
  INFO("moe_act " << activations << " GB (0.677 measured), mla_up_proj and mlp " << projections << " GB (0.701)");
  CHECK(activations >= 0.677);
  CHECK(projections >= 0.701);
  CHECK(projections > activations);
  CHECK(projections / 0.701 < 1.6);
}

}  // namespace
}  // namespace plumbline
