// What sharded states cost when tensors are gathered and reduced one by one, by hand.

#include "core/cost/step_time.h"
#include "core/cost/time_limits.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

constexpr std::int32_t ranks = 16;

Strategy zero3() {
  Strategy s;
  s.data_parallel = s.shard_group = ranks;
  s.zero_stage = 3;
  return s;
}

/// Four matrices of a million parameters, and eight tensors too small to count.
StageCost stage() {
  StageCost cost;
  cost.units = 1;
  cost.parameters.dense.matrix = cost.parameters.dense_trained.matrix = 4'000'000;
  cost.tensors = {4, 12};
  return cost;
}

SharingTimes shared(double gathered_from, double host_time_per_piece_s) {
  Calibration calibration = round_calibration();
  calibration.stack.sharding.gathered_from_elements.value = gathered_from;
  calibration.stack.sharding.host_time_per_piece_s.value = host_time_per_piece_s;
  return StepPricer(BlockPricer(round_cluster(2), calibration), Training{}).sharing_times(stage(), zero3());
}

constexpr double rounding_ps = 1;

double gather_ps(std::int64_t parameters) {
  const Bytes bytes = storage(parameters, Training{}.formats().weight);
  return CommunicationClock(round_cluster(2)).time(Collective::all_gather, bytes, RankGroup{ranks, 1}).value() * 1e12;
}

double scatter_ps(std::int64_t gradients) {
  const Bytes bytes = storage(gradients, Training{}.formats().reduction);
  return CommunicationClock(round_cluster(2)).time(Collective::reduce_scatter, bytes, RankGroup{ranks, 1}).value() *
         1e12;
}

double ps(Picoseconds time) { return static_cast<double>(time.value()); }

TEST_CASE("a layer has as many tensors as its operators hold, and the large ones are gathered") {
  const Graph graph = llama({2, 1024, 16, 8, 64, 2816, 32000});
  const ParameterTensors tensors = parameter_tensors(first_layer(graph), Shard{}, 1e5);
  CHECK(tensors.gathered == 7);  // queries, keys, values, output, gate, up, down
  CHECK(tensors.trained == 9);   // and two norms
}

// A small tensor's gradient is reduced as one element a rank.
TEST_CASE("tensor by tensor every matrix is a gather, and every tensor a reduction") {
  const SharingTimes times = shared(1e5, 0);
  CHECK(ps(times.gather) == Approx(4 * gather_ps(1'000'000)).margin(rounding_ps));
  CHECK(ps(times.scatter) == Approx(4 * scatter_ps(1'000'000) + 8 * scatter_ps(ranks)).margin(rounding_ps));
}

TEST_CASE("unit by unit there is one of each") {
  const SharingTimes times = shared(0, 0);
  CHECK(ps(times.gather) == Approx(gather_ps(4'000'000)).margin(rounding_ps));
  CHECK(ps(times.scatter) == Approx(scatter_ps(4'000'000)).margin(rounding_ps));
}

/// A stage whose device works 3 ms in each pass and whose host launches 1 ms in each, priced with 1 ms of the host for
/// each of its four tensors.
RankTimes with_host_work(const Strategy& s, Picoseconds recompute) {
  Calibration calibration = round_calibration();
  calibration.stack.sharding.gather_copy_bytes.value = 0;
  calibration.stack.sharding.host_time_per_tensor_s.value = 1e-3;
  StageCost cost = stage();
  cost.forward.compute = cost.backward.compute = phase_time(Seconds(3e-3));
  cost.host_forward = cost.host_backward = phase_time(Seconds(1e-3));
  cost.recompute.compute = recompute;
  return StepPricer(BlockPricer(round_cluster(2), calibration), Training{}).rank_times(cost, s);
}

// Launches of 2 ms and hooks of 8, or of 12 with those of a recomputed forward, beside 6 ms of the device, or 7.
TEST_CASE("under ZeRO-3 a micro-batch takes what its host takes for launches and for every sharded tensor") {
  CHECK(with_host_work(zero3(), Picoseconds(0)).copying == phase_time(Seconds((2e-3 + 8e-3 - 6e-3) / 2)));
  const Picoseconds recompute = phase_time(Seconds(1e-3));
  CHECK(with_host_work(zero3(), recompute).copying == phase_time(Seconds((2e-3 + 12e-3 - 7e-3) / 2)));
  Strategy zero2 = zero3();
  zero2.zero_stage = 2;
  CHECK(with_host_work(zero2, recompute).copying == Picoseconds(0));
}

// Four matrices gathered and scattered, and four stages that send to each other.
TEST_CASE("a stack that computes slower sends no slower") {
  Calibration usual = round_calibration();
  usual.stack.compute.step_factor.value = 1;
  Calibration slow = usual;
  slow.stack.compute.step_factor.value = 3;
  const StepPricer as_usual(BlockPricer(round_cluster(2), usual), Training{});
  const StepPricer slower(BlockPricer(round_cluster(2), slow), Training{});
  for (const std::int32_t zero_stage : {0, 1, 2, 3}) {
    Strategy s = zero3();
    s.zero_stage = zero_stage;
    if (zero_stage == 0) s.shard_group = 1;
    const SharingTimes a = as_usual.sharing_times(stage(), s);
    const SharingTimes b = slower.sharing_times(stage(), s);
    CHECK(a.gather == b.gather);
    CHECK(a.scatter == b.scatter);
    CHECK(a.reduction == b.reduction);
    CHECK(a.update == b.update);
  }
  Strategy pipeline;
  pipeline.tensor_parallel = pipeline.pipeline_stages = 4;
  for (std::int32_t rank = 0; rank < 4; ++rank)
    CHECK(stage_link(BlockPricer(round_cluster(2), usual), rank, 1_MiB, pipeline).hop ==
          stage_link(BlockPricer(round_cluster(2), slow), rank, 1_MiB, pipeline).hop);
}

/// Of eight units with `trained` parameters together, where a bucket holds `bucket` gradients.
SharingTimes collected(std::int64_t trained, std::int64_t bucket, ShardedStates states) {
  Calibration calibration = round_calibration();
  calibration.stack.sharding.gathered_from_elements.value = 0;
  calibration.stack.communication.bucket_bytes.value =
      static_cast<double>(storage(bucket, Training{}.formats().reduction).value());
  calibration.stack.features.sharded_states = states;
  StageCost cost = stage();
  cost.units = 8;
  cost.parameters.dense_trained.matrix = trained;
  return StepPricer(BlockPricer(round_cluster(2), calibration), Training{}).sharing_times(cost, zero3());
}

// 800 000 are less than a bucket of a million, 4 000 000 are four; a bucket of 250 000 is less than a unit's 500 000.
TEST_CASE("small units' gradients are collected in buckets, but for FSDP, which scatters each unit's") {
  constexpr auto of_recipe = ShardedStates::of_recipe;
  CHECK(ps(collected(800'000, 1'000'000, of_recipe).scatter) == Approx(scatter_ps(800'000)).margin(rounding_ps));
  CHECK(ps(collected(4'000'000, 1'000'000, of_recipe).scatter) ==
        Approx(4 * scatter_ps(1'000'000)).margin(rounding_ps));
  CHECK(ps(collected(4'000'000, 250'000, of_recipe).scatter) ==
        Approx(8 * scatter_ps(500'000)).margin(8 * rounding_ps));
  CHECK(ps(collected(800'000, 1'000'000, ShardedStates::masters).scatter) ==
        Approx(8 * scatter_ps(100'000)).margin(8 * rounding_ps));
}

TEST_CASE("more gradients never take less time, whatever the bucket") {
  for (const std::int64_t bucket : {1, 75'000, 1'000'000, 1'000'000'000}) {
    Picoseconds before(0);
    for (const std::int64_t trained : {16'000, 80'000, 240'000, 800'000, 1'600'000, 2'400'000, 4'000'000}) {
      const Picoseconds time = collected(trained, bucket, ShardedStates::of_recipe).scatter;
      INFO(trained << " gradients, buckets of " << bucket);
      CHECK(time > before);
      before = time;
    }
  }
}

// 4 gathers and 12 reductions of 16 segments at 8 microseconds.
TEST_CASE("the host spends its time on every rank's segment of every tensor") {
  const SharingTimes without = shared(1e5, 0);
  const SharingTimes with = shared(1e5, 8e-6);
  CHECK(ps(with.gather - without.gather) == Approx(512e6).margin(rounding_ps));
  CHECK(ps(with.scatter - without.scatter) == Approx(1536e6).margin(rounding_ps));
}

}  // namespace
}  // namespace plumbline
