// Bytes of primitive operators in a Llama layer, counted by hand.

#include "core/cost/primitive_operators.h"

#include "core/cost/block_cost.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::primitive_operators_test {
namespace {

constexpr std::int64_t sequence = 512;
constexpr std::int64_t hidden = 1024;
constexpr std::int64_t heads = 16;
constexpr std::int64_t kv_heads = 8;
constexpr std::int64_t head_dim = 64;
constexpr std::int64_t ffn = 2816;
const LlamaShape shape{2, hidden, heads, kv_heads, head_dim, ffn, 32000};

Shard shard(std::int32_t tensor_parallel = 1) {
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 8;
  Strategy s;
  s.flash_attention = FlashAttention::on;
  s.tensor_parallel = tensor_parallel;
  s.sequence_parallel = tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
  return shard_of(s, training);
}

StackFeatures primitive() {
  StackFeatures features;
  features.norms = features.gates = OperatorKernels::primitive;
  features.rotations = Rotations::complex;
  features.key_value_heads = KeyValueHeads::repeated;
  return features;
}

struct LayerBytes {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

LayerBytes layer(const StackFeatures& features, const Shard& of, const Graph& graph = llama(shape)) {
  const OperatorPasses passes(features);
  const Block& block = first_layer(graph);
  LayerBytes sum;
  for (const Op& op : block.ops()) {
    const OpWork work = op_work(block, op, of);
    if (work.kind == WorkKind::memory) {
      const Traffic traffic = passes.memory_traffic(op, work, of.formats);
      sum.forward += traffic.forward.value();
      sum.backward += traffic.backward.value();
    }
    if (work.kind == WorkKind::product) sum.backward += passes.gradient_sums(op, work, NumberFormat::bf16).value();
    if (work.kind == WorkKind::grouped_product) {
      for (const Traffic& traffic :
           {passes.expert_biases(op, work, NumberFormat::bf16), passes.expert_padding(op, work, NumberFormat::bf16)}) {
        sum.forward += traffic.forward.value();
        sum.backward += traffic.backward.value();
      }
    }
    if (work.kind == WorkKind::attention) {
      const std::int64_t repeated = passes.repeated_heads(*work.attention, NumberFormat::bf16).value();
      sum.forward += repeated;
      sum.backward += repeated;
    }
  }
  return sum;
}

// Per token in 16-bit passes. Fused: two norms and two additions of the hidden features, rotations of queries and keys,
// the gate.
TEST_CASE("a fused Llama layer makes one pass for each group") {
  const LayerBytes fused = layer({}, shard());
  CHECK(fused.forward == 2 * sequence * (2 * hidden * (2 + 3) + 2 * (heads + kv_heads) * head_dim + 3 * ffn));
  CHECK(fused.backward == 2 * sequence * (2 * hidden * (3 + 3) + 2 * (heads + kv_heads) * head_dim + 5 * ffn));
}

// Primitive: norms 18 and 42, rotations 10 and 10, gates 5 and 9. Three products read the first norm (two sums of three
// passes), two the second (one). Keys and values: read once, written for each query head, and back.
TEST_CASE("primitive operators make their own passes, sum gradients two by two and repeat keys and values") {
  const LayerBytes own = layer(primitive(), shard());
  constexpr std::int64_t rotated = 10 * (heads + kv_heads) * head_dim;
  constexpr std::int64_t repeated = 2 * (heads + kv_heads) * head_dim;
  CHECK(own.forward == 2 * sequence * (2 * hidden * (18 + 3) + rotated + 5 * ffn + repeated));
  CHECK(own.backward == 2 * sequence * (2 * hidden * (42 + 3) + rotated + 9 * ffn + repeated + hidden * (2 + 1) * 3));
}

TEST_CASE("tensor parallelism divides every pass but the sums of gradients, which are of the gathered input") {
  const LayerBytes whole = layer(primitive(), shard());
  const LayerBytes half = layer(primitive(), shard(2));
  CHECK(2 * half.forward == whole.forward);
  CHECK(2 * half.backward - whole.backward == 2 * sequence * (2 + 1) * 3 * hidden);
}

// gpt-oss-20b: 4 experts of 2880 features for each token of 2880, 64 query and 8 key heads of 64.
TEST_CASE("limits, biases of experts and scaled rotations that frameworks write out make passes of their own") {
  const Graph gpt_oss = find_network("gpt-oss-20b").graph;
  constexpr std::int64_t row = 2 * sequence * 4 * 2880;
  constexpr std::int64_t turned = 2 * sequence * (64 + 8) * 64;
  const LayerBytes fused = layer({}, shard(), gpt_oss);
  const auto more = [&](auto change) {
    StackFeatures features;
    change(features);
    const LayerBytes own = layer(features, shard(), gpt_oss);
    CHECK(layer(features, shard()).forward == layer({}, shard()).forward);  // Llama has none of them
    return std::pair(own.forward - fused.forward, own.backward - fused.backward);
  };
  CHECK(more([](StackFeatures& f) { f.kept.limited_gates = LimitedGates::copied; }) == std::pair(8 * row, 10 * row));
  CHECK(more([](StackFeatures& f) { f.expert_biases = ExpertBiases::second_by_expert; }) ==
        std::pair(6 * row, 8 * row));
  CHECK(more([](StackFeatures& f) { f.expert_biases = ExpertBiases::by_expert; }) ==
        std::pair((6 + 2 * 4) * row, (8 + 2 * 3) * row));
  // Padding copies rows before the first product and after the second: a read and a write each, in both passes.
  CHECK(more([](StackFeatures& f) { f.expert_casts = ExpertCasts::padded; }) == std::pair(4 * row, 4 * row));
  CHECK(more([](StackFeatures& f) { f.expert_casts = ExpertCasts::own; }) == std::pair(0 * row, 0 * row));
  CHECK(more([](StackFeatures& f) { f.scaled_rotations = OperatorKernels::primitive; }) ==
        std::pair((12 - 2) * turned, (10 - 2) * turned));
}

// 12 and 10 passes instead of 2 and 2 over queries and keys.
TEST_CASE("rotations by halves make passes of their own, scaled or not") {
  StackFeatures features;
  features.rotations = Rotations::by_halves;
  constexpr std::int64_t turned = 2 * sequence * (heads + kv_heads) * head_dim;
  CHECK(layer(features, shard()).forward - layer({}, shard()).forward == (12 - 2) * turned);
  CHECK(layer(features, shard()).backward - layer({}, shard()).backward == (10 - 2) * turned);
  const Graph gpt_oss = find_network("gpt-oss-20b").graph;
  CHECK(layer(features, shard(), gpt_oss).forward - layer({}, shard(), gpt_oss).forward ==
        2 * sequence * (12 - 2) * (64 + 8) * 64);
}

TEST_CASE("keys and values that travel are there for every query head only where they are repeated") {
  AttentionWork work;
  work.heads = heads;
  work.kv_heads = kv_heads;
  CHECK(copies_of_heads(work, primitive().key_value_heads) == 2);
  CHECK(copies_of_heads(work, KeyValueHeads::shared) == 1);
}

// The embedding is left (a reduce-scatter), a layer entered and left twice. Forward 4 collectives, backward 4 under
// DTensor, 6 where inputs are gathered again; each that is copied reads and writes the whole tensor.
TEST_CASE("DTensor's collectives copy whole tensors and gather no input again") {
  const Graph graph = llama(shape);
  const Block& block = first_layer(graph);
  Calibration calibration = round_calibration();
  calibration.stack.communication.tensor_parallel_exposure.value = 0;
  const Cluster cluster = round_cluster(1);
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  const auto tensor = [&](GatheredDimension gathered) {
    calibration.stack.features.tensor_parallelism = gathered;
    const BlockPricer pricer(cluster, calibration);
    Shard kept = shard(2);
    kept.kept.gathered_inputs = GatheredInputs::kept;
    return pricer.price(block, kept, block_groups(s));
  };
  const BlockCost copied = tensor(GatheredDimension::batch);
  CHECK(tensor(GatheredDimension::sequence).forward.tensor_parallel == Picoseconds(0));
  const Seconds copies = KernelClock(slowest_device(cluster), calibration).stream(4 * 2.0 * 2 * sequence * hidden);
  CHECK(copied.forward.tensor_parallel == to_picoseconds(calibration.stack.compute.step_factor * copies));
  CHECK(copied.backward.tensor_parallel == copied.forward.tensor_parallel);
}

}  // namespace
}  // namespace plumbline::primitive_operators_test
