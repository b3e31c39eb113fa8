// Laws of the price of one block: what it sends, and what makes it slower.

#include "core/cost/block_cost.h"

#include "core/training/adaptation.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

constexpr std::int64_t sequence_length = 512;
constexpr std::int64_t hidden = 1024;

Training training_of(std::int64_t tokens = sequence_length) {
  Training training;
  training.sequence_length = tokens;
  training.global_batch = 64;
  return training;
}

BlockCost priced(const Block& block, const Strategy& s, const Cluster& cluster = round_cluster(8),
                 const Calibration& calibration = round_calibration()) {
  return BlockPricer(cluster, calibration).price(block, shard_of(s, training_of()), block_groups(s));
}

Graph dense() { return llama({4, hidden, 16, 8, 64, 2816, 32000}); }
Graph mixture() {
  LlamaShape shape{4, hidden, 16, 8, 64, 2816, 32000};
  shape.experts = 8;
  shape.chosen = 2;
  shape.expert_width = 704;
  return llama(shape);
}

Strategy tensor_parallel(std::int32_t ranks, SequenceParallel sequence_parallel) {
  Strategy s;
  s.tensor_parallel = ranks;
  s.sequence_parallel = sequence_parallel;
  s.micro_batch = 2;
  return s;
}

// X = 2 s b h bytes. Two all-reduces forward and two backward, 2 (t - 1)/t X each; with sequence parallelism two
// all-gathers and two reduce-scatters forward, four and two backward, (t - 1)/t X each (arXiv:2205.05198, 4.2.2).
TEST_CASE("a layer sends 8 (t - 1)/t X for tensor parallelism, 10 (t - 1)/t X with sequence parallelism") {
  constexpr std::int64_t x = 2 * sequence_length * 2 * hidden;
  for (const std::int32_t t : {2, 4, 8}) {
    CHECK(priced(first_layer(dense()), tensor_parallel(t, SequenceParallel::off)).wire().tensor ==
          Bytes(std::int64_t{8} * (t - 1) * x / t));
    CHECK(priced(first_layer(dense()), tensor_parallel(t, SequenceParallel::on)).wire().tensor ==
          Bytes(std::int64_t{10} * (t - 1) * x / t));
  }
  CHECK(priced(first_layer(dense()), tensor_parallel(1, SequenceParallel::off)).wire().tensor == Bytes(0));
}

// Below the first trained layer only the forward collectives are left: two of 2 (t - 1)/t X.
TEST_CASE("a frozen layer without backward sends nothing backward") {
  Adaptation adaptation;
  adaptation.freeze_embeddings = true;
  adaptation.frozen_layers = {{0, 1}};
  const Graph graph = adapted(dense(), adaptation);
  const BlockCost cost = priced(first_layer(graph), tensor_parallel(4, SequenceParallel::off));
  constexpr std::int64_t x = 2 * sequence_length * 2 * hidden;
  CHECK(cost.wire().tensor == Bytes(3 * x));
  CHECK(cost.backward == PhaseTime{});
  CHECK(cost.forward == priced(first_layer(dense()), tensor_parallel(4, SequenceParallel::off)).forward);
}

// It keeps no keys that a replay could send round the ring.
TEST_CASE("a frozen layer without backward replays nothing, whatever recompute is asked for") {
  Adaptation adaptation;
  adaptation.freeze_embeddings = true;
  adaptation.frozen_layers = {{0, 1}};
  const Graph graph = adapted(dense(), adaptation);
  for (const std::int32_t ranks : {2, 3, 5}) {
    Strategy s;
    s.context_parallel = ranks;
    const BlockCost cost = priced(first_layer(graph), s);
    REQUIRE(cost.variant_times.size() == cost.variants.size());
    for (const VariantTimes& times : cost.variant_times) CHECK(times.recompute == PhaseTime{});
    for (const VariantSizes& variant : cost.variants) {
      CHECK(variant.wire == WireBytes{});
      CHECK(variant.memory.saved == Bytes(0));
    }
  }
}

// Keys and values, 2 x 8 x 64 features of s/c tokens in 2 bytes, pass c - 1 neighbours forward and twice backward.
TEST_CASE("ring attention sends keys and values c - 1 times forward and twice that backward") {
  for (const std::int32_t c : {2, 4, 8}) {
    Strategy s;
    s.context_parallel = c;
    CHECK(priced(first_layer(dense()), s).wire().context ==
          Bytes(std::int64_t{3} * (c - 1) * (sequence_length / c) * 2 * 8 * 64 * 2));
  }
}

// A rank's s x 2 chosen tokens of h features: dispatch and combine, forward and backward, (e - 1)/e of them leave.
TEST_CASE("experts cost four all-to-alls of the routed tokens") {
  constexpr std::int64_t routed = 2 * sequence_length * 2 * hidden;
  for (const std::int32_t e : {2, 4, 8}) {
    Strategy s;
    s.expert_parallel = e;
    s.data_parallel = 8;
    CHECK(priced(first_layer(mixture()), s).wire().expert == Bytes(std::int64_t{4} * (e - 1) * routed / e));
  }
}

// tp 4 and etp 2: a rank holds a quarter of the tokens, sends (e - 1)/e of them, and gathers those of 2 ranks.
TEST_CASE("expert tensor parallelism gathers what the all-to-all brought") {
  Strategy s = tensor_parallel(4, SequenceParallel::on);
  s.micro_batch = 1;
  s.data_parallel = 4;
  s.expert_parallel = 8;
  s.expert_tensor_parallel = 2;
  constexpr std::int64_t own = 2 * sequence_length / 4 * 2 * hidden;
  CHECK(priced(first_layer(mixture()), s).wire().expert == Bytes(4 * (7 * own / 8 + own)));
}

TEST_CASE("full recompute repeats the forward pass, selective recompute the attention core") {
  for (const Graph& graph : {dense(), mixture()}) {
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
      Strategy s = tensor_parallel(2, SequenceParallel::on);
      s.flash_attention = flash;
      const BlockCost cost = priced(first_layer(graph), s);
      CHECK(cost.times(Variant::full).recompute == cost.forward);
      const PhaseTime& replay = cost.times(Variant::selective).recompute;
      CHECK(replay.compute > Picoseconds(0));
      CHECK(replay.total() < cost.forward.compute);
      CHECK(cost.boundary < cost.memory().saved);
      CHECK(cost.variant(Variant::selective).memory.saved <= cost.memory().saved);
    }
  }
  // 4 b s^2 a d on one rank: 16 heads of 64.
  Strategy s;
  CHECK(priced(first_layer(dense()), s).variant(Variant::selective).flops.value() ==
        4.0 * sequence_length * sequence_length * 16 * 64);
}

TEST_CASE("more tokens never take less time, bytes or FLOPs") {
  for (const Graph& graph : {dense(), mixture()}) {
    for (const Block& block : graph.blocks()) {
      Strategy s = tensor_parallel(4, SequenceParallel::on);
      s.micro_batch = 1;
      BlockCost before = priced(block, s);
      for (s.micro_batch = 2; s.micro_batch <= 16; ++s.micro_batch) {
        const BlockCost cost = priced(block, s);
        INFO(block.name() << ", micro-batch " << s.micro_batch);
        REQUIRE(cost.forward.total() >= before.forward.total());
        REQUIRE(cost.backward.total() >= before.backward.total());
        REQUIRE(cost.memory().saved >= before.memory().saved);
        REQUIRE(cost.wire().tensor >= before.wire().tensor);
        REQUIRE(cost.flops.total() >= before.flops.total());
        before = cost;
      }
    }
  }
}

/// The cluster with every bandwidth and peak, or every bandwidth of its links, `factor` times as high.
Cluster faster(double factor, bool devices) {
  Cluster cluster = round_cluster(8);
  Node& node = cluster.groups.front().node;
  if (devices) {
    node.device.memory_bandwidth.value = BytesPerSecond(factor * node.device.memory_bandwidth.value.value());
    for (auto& [format, peak] : node.device.peaks) peak.value = FlopsPerSecond(factor * peak.value.value());
  } else {
    node.interconnect.bandwidth.value = BytesPerSecond(factor * node.interconnect.bandwidth.value.value());
    node.network->bandwidth.value = BytesPerSecond(factor * node.network->bandwidth.value.value());
  }
  return cluster;
}

TEST_CASE("a device twice as fast computes in half the time when nothing else takes any") {
  Calibration calibration = round_calibration();
  calibration.device.kernel_gap_s.value = 0;
  const Strategy s;
  const Graph graph = dense();
  for (const Block& block : graph.blocks()) {
    const BlockCost slow = priced(block, s, round_cluster(8), calibration);
    const BlockCost fast = priced(block, s, faster(2, true), calibration);
    // Each is rounded to whole picoseconds.
    CHECK(std::abs((slow.forward.compute - std::int64_t{2} * fast.forward.compute).value()) <= 2);
    CHECK(std::abs((slow.backward.compute - std::int64_t{2} * fast.backward.compute).value()) <= 2);
  }
}

TEST_CASE("faster links never make a layer slower, and leave its compute as it is") {
  Strategy s = tensor_parallel(4, SequenceParallel::on);
  s.data_parallel = 8;
  s.expert_parallel = 8;
  const BlockCost slow = priced(first_layer(mixture()), s);
  const BlockCost fast = priced(first_layer(mixture()), s, faster(2, false));
  CHECK(fast.forward.compute == slow.forward.compute);
  CHECK(fast.forward.tensor_parallel <= slow.forward.tensor_parallel);
  CHECK(fast.forward.expert_parallel <= slow.forward.expert_parallel);
  CHECK(fast.forward.total() < slow.forward.total());
}

}  // namespace
}  // namespace plumbline
