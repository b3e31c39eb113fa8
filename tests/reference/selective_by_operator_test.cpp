// Selective checkpointing by operator against its description, a Llama 3 8B layer worked by hand.

#include "core/cost/block_cost.h"
#include "core/cost/kept_by_operator.h"
#include "core/cost/recompute_modules.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::selective_by_operator_test {
namespace {

constexpr std::int64_t tokens = 2048;
constexpr std::int64_t micro_batch = 2;
constexpr std::int64_t heads = 32;
constexpr std::int64_t hidden = 4096;
constexpr std::int64_t keys = 1024;
constexpr std::int64_t width = 14336;

Graph network() { return llama({2, hidden, heads, 8, 128, width, 128256}); }

Shard shard() {
  Shard result;
  result.lengths = {micro_batch, tokens};
  return result;
}

/// Of one layer alongside its input, of 2 bytes per feature.
Bytes kept(const Block& layer, const Shard& on) {
  return kept_bytes(layer, on, kept_by_operator(layer, on).replay(layer)) - Bytes(micro_batch * tokens * 2 * hidden);
}
Bytes kept(const Shard& on) { return kept(first_layer(network()), on); }

// Of query, key, value, output, gate, up and down the first, third, fifth and seventh are kept (torchtitan counts
// matrix products in the order in which they run), and what attention made: its output and a log-sum-exp per head.
TEST_CASE("by operator: attention and every second product of a layer are kept") {
  const std::int64_t products = hidden + keys + width + hidden;
  const std::int64_t attention = 2 * hidden + 4 * heads;
  CHECK(kept(shard()) == Bytes(micro_batch * tokens * (2 * products + attention)));
}

TEST_CASE("by operator under nvfp4: attention alone is kept") {
  Shard fp4 = shard();
  fp4.formats = precision_formats(PrecisionRecipe::nvfp4);
  CHECK(kept(fp4) == Bytes(micro_batch * tokens * (2 * hidden + 4 * heads)));
  fp4.formats = precision_formats(PrecisionRecipe::fp8);
  CHECK(kept(fp4) == kept(shard()));
}

// Batched products are not on the list: query, value, gate and down are left.
TEST_CASE("by operator without FlashAttention: attention runs again") {
  Shard unfused = shard();
  unfused.flash_attention = FlashAttention::off;
  CHECK(kept(unfused) == Bytes(micro_batch * tokens * 2 * (hidden + keys + width + hidden)));
}

// On four ranks query, value and gate are a quarter as wide, attention's output too; what reductions scatter, of the
// output projection and of the down projection, is a quarter as long. Without sequence parallelism the all-reduced
// output of the down projection is whole, and that of the output projection runs again.
TEST_CASE("by operator under sequence parallelism: what a reduce-scatter leaves is kept") {
  Shard sliced = shard();
  sliced.tensor_parallel = 4;
  const std::int64_t divided = 2 * (hidden + keys + width) + 2 * hidden + 4 * heads;
  const std::int64_t input = 2 * hidden;
  CHECK(kept(sliced) == Bytes(micro_batch * tokens * (divided / 4 + 2 * hidden)));
  sliced.sequence_parallel = SequenceParallel::on;
  const Block layer = first_layer(network());
  const Bytes all = kept_bytes(layer, sliced, kept_by_operator(layer, sliced).replay(layer));
  CHECK(all == Bytes(micro_batch * tokens * (divided + 2 * (2 * hidden) + input) / 4));
}

// 47.1 + 8.3 + 8.2 kB a token: 86 % of what recomputing every second layer keeps on average. Query before its rotation
// and down are on the list, but no gradient reads them.
TEST_CASE("by operator keeps less than every second layer, and replays less") {
  const Graph graph = network();
  const BlockPricer pricer(round_cluster(1), round_calibration());
  Strategy s;
  s.micro_batch = micro_batch;
  Training training;
  training.sequence_length = tokens;
  const BlockCost cost = pricer.price(first_layer(graph), shard_of(s, training), block_groups(s));
  const VariantSizes& by_operator = cost.variant(Variant::by_operator);
  const VariantSizes& full = cost.variant(Variant::full);
  const Bytes all = cost.memory().saved;
  CHECK(by_operator.memory.saved / (all + full.memory.saved) == Approx(0.43).margin(0.01));
  CHECK(by_operator.memory.saved + by_operator.restored == all + Bytes(micro_batch * tokens * 2 * (hidden + hidden)));
  // Key, output and up run again: 19456 of 53248 columns of equal depth, alongside the operators that only move memory.
  const double products = 2.0 * micro_batch * tokens * hidden * (keys + hidden + width);
  CHECK(by_operator.flops.value() == Approx(products).epsilon(0.01));
  const Picoseconds replay = cost.times(Variant::by_operator).recompute.total();
  const Picoseconds whole_replay = cost.times(Variant::full).recompute.total();
  CHECK(replay < whole_replay / std::int64_t{2});
  CHECK(replay > whole_replay / std::int64_t{4});
}

}  // namespace
}  // namespace plumbline::selective_by_operator_test
