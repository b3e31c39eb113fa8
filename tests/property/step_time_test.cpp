// Laws of a step's time over random strategies: its bound, its parts, and what makes it longer.

#include "core/cost/step_time.h"

#include <random>

#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline {
namespace {

Training training_of() {
  Training training;
  training.sequence_length = 512;
  training.global_batch = 512;
  return training;
}

Graph dense(bool tied) {
  LlamaShape shape{16, 1024, 16, 8, 64, 2816, 32000};
  shape.tied = tied;
  return llama(shape);
}
Graph mixture() {
  LlamaShape shape{16, 1024, 16, 8, 64, 2816, 32000};
  shape.experts = 8;
  shape.chosen = 2;
  shape.expert_width = 1408;
  return llama(shape);
}

/// Legal or nearly so: every degree a power of two, ZeRO over all data-parallel ranks.
class RandomStrategies {
 public:
  Strategy next() {
    Strategy s;
    s.tensor_parallel = power(3);
    s.sequence_parallel = s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
    s.context_parallel = power(1);
    s.data_parallel = power(3);
    s.pipeline_stages = power(2);
    s.micro_batch = power(2);
    s.micro_batches = s.pipeline_stages * power(3);
    if (s.pipeline_stages > 1) {
      s.schedule = all_schedules[1 + below(all_schedules.size() - 1)];
      const bool is_v = placement(s.schedule) == StagePlacement::v_shaped;
      if (s.schedule == Schedule::interleaved || is_v) s.virtual_stages = 2;
      if (s.schedule == Schedule::dualpipev) s.micro_batches *= 2;
    }
    s.zero_stage = s.gradient_ranks() > 1 ? static_cast<std::int32_t>(below(4)) : 0;
    s.shard_group = s.zero_stage > 0 ? s.gradient_ranks() : 1;
    const std::array modes{Recompute{}, Recompute{RecomputeMode::selective, 1}, Recompute{RecomputeMode::full, 1},
                           Recompute{RecomputeMode::every_nth, 2}};
    s.recompute = modes[below(modes.size())];
    return s;
  }

 private:
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits_() % count); }
  std::int32_t power(std::size_t most) { return std::int32_t{1} << below(most + 1); }
  std::mt19937_64 bits_{7};
};

TEST_CASE("a step is never shorter than its bound, and its causes add up") {
  RandomStrategies strategies;
  const Pricing pricings[] = {Pricing(dense(true), training_of()), Pricing(mixture(), training_of())};
  for (int n = 0; n < 200; ++n) {
    const Strategy s = strategies.next();
    INFO(to_text(s));
    for (const Pricing& pricing : pricings) {
      const StepTime step = pricing.step(s);
      REQUIRE(pricing.lower_bound(s) <= step.total());
      REQUIRE(pricing.bound_without_sweep(s) <= step.total());
      Picoseconds sum(0);
      for (const Picoseconds time : step.breakdown.by_cause) {
        REQUIRE(time >= Picoseconds(0));
        sum += time;
      }
      REQUIRE(sum == step.total());
      REQUIRE(pricing.total(s) == sum);
    }
  }
}

TEST_CASE("twice the micro-batches take more than the same time and at most twice of it") {
  RandomStrategies strategies;
  const Pricing pricing(dense(false), training_of());
  for (int n = 0; n < 200; ++n) {
    Strategy s = strategies.next();
    if (s.micro_batches == 1) continue;            // adding gradients up begins with the second
    if (s.schedule == Schedule::v_half) continue;  // packs its fill and drain anew for every count
    const Picoseconds once = pricing.step(s).total();
    s.micro_batches *= 2;
    INFO(to_text(s));
    REQUIRE(pricing.step(s).total() > once);
    REQUIRE(pricing.step(s).total() <= std::int64_t{2} * once);
  }
}

// Idle over the time of the micro-batches: (p - 1)/(m + p - 1) for equal stages; here eight layers a stage and links
// that cost nothing, embedding and head tiny.
TEST_CASE("the bubble of equal stages is the textbook's") {
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = Schedule::one_f_one_b;
  for (const std::int64_t m : {4, 16, 64}) {
    s.micro_batches = m;
    const TimeBreakdown time = Pricing(llama({32, 4096, 32, 32, 128, 11008, 16}), training_of()).step(s).breakdown;
    const double waiting =
        time[TimeCause::pipeline_bubble] / (time[TimeCause::compute] + time[TimeCause::pipeline_bubble]);
    CHECK(waiting == Approx(3.0 / static_cast<double>(m + 3)).epsilon(0.05));
  }
}

// Weights are divided over the ranks that share them by stage 3, so they are gathered: per micro-batch, forward and
// backward. 24 expert matrices a layer are most of this network.
TEST_CASE("experts sharded by ZeRO-3 are gathered like everything else") {
  Strategy s;
  s.data_parallel = 8;
  s.expert_parallel = 2;
  s.zero_stage = 3;
  s.shard_group = 8;
  s.micro_batches = 4;
  const Pricing pricing(mixture(), training_of());
  const RankParameters p = pricing.stages(s).front().parameters;
  Bytes gathered(0);
  Bytes scattered(0);
  for (const CommunicationLine& line : pricing.communication(s)) {
    if (line.group != "expert_gradient") continue;
    if (line.collective == "all_gather") gathered += line.bytes_per_step;
    if (line.collective == "reduce_scatter") scattered += line.bytes_per_step;
  }
  // Four ranks hold the same experts: 3/4 of 2 bytes each, twice per micro-batch; gradients once.
  CHECK(gathered == Bytes(2 * 4 * p.expert.total() * 2 * 3 / 4));
  CHECK(scattered == Bytes(4 * p.expert.total() * 2 * 3 / 4));
}

TEST_CASE("without ZeRO experts' gradients are reduced over the ranks that hold the same ones") {
  Strategy s;
  s.data_parallel = 8;
  s.expert_parallel = 2;
  const Pricing pricing(mixture(), training_of());
  const RankParameters p = pricing.stages(s).front().parameters;
  std::map<std::string, Bytes> sent;
  for (const CommunicationLine& line : pricing.communication(s))
    if (line.collective == "all_reduce") sent[line.group] = line.bytes_per_step;
  CHECK(sent["gradient"] == Bytes(2 * p.dense.total() * 2 * 7 / 8));
  CHECK(sent["expert_gradient"] == Bytes(2 * p.expert.total() * 2 * 3 / 4));
}

TEST_CASE("a hybrid shard group keeps more and sends its shards between replicas") {
  Strategy s;
  s.data_parallel = 16;
  s.zero_stage = 3;
  s.shard_group = 16;
  const Pricing pricing(dense(false), training_of());
  const Bytes full = pricing.memory(s).front().live();
  s.shard_group = 8;
  CHECK(pricing.memory(s).front().live() > full);
  const std::int64_t trained = pricing.stages(s).front().parameters.trained();
  Bytes between(0);
  for (const CommunicationLine& line : pricing.communication(s))
    if (line.group == "replicate") between += line.bytes_per_step;
  CHECK(between == Bytes(2 * trained / 8));  // all-reduce of 2 bytes each over 2 replicas: 2 x 1/2
}

}  // namespace
}  // namespace plumbline
