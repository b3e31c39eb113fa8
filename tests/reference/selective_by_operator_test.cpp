// Selective checkpointing by operator against its description, a Llama 3 8B layer worked by hand.

#include "core/cost/block_cost.h"
#include "core/cost/kept_by_operator.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
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

// Of query, key, value, output, gate, up and down the first, third, fifth and seventh are kept (torchtitan counts
// matrix products in the order in which they run), and what attention made: its output and a log-sum-exp per head.
TEST_CASE("by operator: attention and every second product of a layer are kept") {
  const std::int64_t products = hidden + keys + width + hidden;
  const std::int64_t attention = 2 * hidden + 4 * heads;
  const KeptByOperator kept = kept_by_operator(first_layer(network()), shard());
  CHECK(kept.bytes == Bytes(micro_batch * tokens * (2 * products + attention)));
}

TEST_CASE("by operator under nvfp4: attention alone is kept") {
  Shard fp4 = shard();
  fp4.formats = precision_formats(PrecisionRecipe::nvfp4);
  const KeptByOperator kept = kept_by_operator(first_layer(network()), fp4);
  CHECK(kept.bytes == Bytes(micro_batch * tokens * (2 * hidden + 4 * heads)));
  fp4.formats = precision_formats(PrecisionRecipe::fp8);
  CHECK(kept_by_operator(first_layer(network()), fp4).bytes == kept_by_operator(first_layer(network()), shard()).bytes);
}

// 47.1 + 8.3 + 8.2 kB a token: 86 % of what recomputing every second layer keeps on average.
TEST_CASE("by operator keeps less than every second layer, and replays less") {
  const Graph graph = network();
  const BlockPricer pricer(round_cluster(1), round_calibration());
  Strategy s;
  s.micro_batch = micro_batch;
  Training training;
  training.sequence_length = tokens;
  const BlockCost cost = pricer.price(first_layer(graph), shard_of(s, training), block_groups(s));
  const BlockVariant& by_operator = cost.variant(Variant::by_operator);
  const BlockVariant& full = cost.variant(Variant::full);
  const Bytes all = cost.variant(Variant::kept).saved;
  CHECK(by_operator.saved / (all + full.saved) == Approx(0.43).margin(0.01));
  CHECK(by_operator.saved + by_operator.restored == all);
  // Key, output and up run again: 19456 of 53248 columns of equal depth, beside the operators that only move memory.
  const double products = 2.0 * micro_batch * tokens * hidden * (keys + hidden + width);
  CHECK(by_operator.flops.value() == Approx(products).epsilon(0.01));
  CHECK(by_operator.recompute.total() < full.recompute.total() / std::int64_t{2});
  CHECK(by_operator.recompute.total() > full.recompute.total() / std::int64_t{4});
}

}  // namespace
}  // namespace plumbline
