// What interleaved chunks wait for of updated parameters and leave of reduced gradients, by hand.

#include <vector>

#include "core/cost/once_per_step.h"
#include "core/cost/pipeline_time.h"
#include "core/cost/state_sharing.h"
#include "tests/catch.h"
#include "tests/machines.h"

namespace plumbline::update_waits_test {
namespace {

constexpr Picoseconds ten(10);

/// Two ranks with two chunks each and two micro-batches, ten for each pass; `first`: of the first chunk's rank.
std::vector<Picoseconds> ends(const OnceTimes& first, double slowdown = 0) {
  const std::vector<Picoseconds> passes(4, ten);
  const std::vector<Picoseconds> latency(1, Picoseconds(0));
  std::vector<OnceTimes> once(4);
  once.front() = first;
  PipelineTimes times{passes, passes, latency};
  times.once = once;
  times.slowdown = slowdown;
  return interleaved_ends(times, 2, 2);
}

/// Later than without anything once a step.
Picoseconds later(const OnceTimes& first, double slowdown = 0) {
  const std::vector<Picoseconds> with = ends(first, slowdown);
  const std::vector<Picoseconds> without = ends({}, slowdown);
  REQUIRE(with[0] - without[0] == with[1] - without[1]);
  return with[0] - without[0];
}

OnceTimes arriving(std::int64_t time) {
  OnceTimes once;
  once.arriving = Picoseconds(time);
  return once;
}

// The rank's second chunk begins when it has run its first one twice, ten behind the first forward.
TEST_CASE("what a rank gathers for its next chunk hides behind all micro-batches of the chunk before") {
  CHECK(later(arriving(10)) == Picoseconds(0));
  CHECK(later(arriving(15)) == Picoseconds(5));
  OnceTimes waits;
  waits.gathering = Picoseconds(15);
  CHECK(later(waits) == Picoseconds(15));
}

// The second forward takes 12 beside the gather, which takes 2 longer as well: 17 where 10 would do.
TEST_CASE("a forward beside the gather of the next chunk and the gather slow each other") {
  CHECK(later(arriving(15), 0.2) == Picoseconds(7));
  CHECK(later(arriving(5), 0.2) == Picoseconds(1));
}

/// Of two chunks that take ten forward and thirty backward; each sends forty of parameters and gradients.
struct TwoChunks {
  StageCost stage;
  RankTimes times;
  std::vector<StageShare> chunks;

  TwoChunks() {
    stage.units = 2;
    stage.forward.compute = ten;
    stage.backward.compute = Picoseconds(30);
    SharingTimes shared;
    shared.update = Picoseconds(40);
    shared.reduction = Picoseconds(40);
    chunks = {{&stage, &times, shared}, {&stage, &times, shared}};
  }

  [[nodiscard]] OncePerStep once(UpdateGathers updates, ReductionRule rule) const {
    RankSharing rank;
    rank.of_rank.update = rank.of_rank.reduction = Picoseconds(80);
    rank.rule = rule;
    rank.in_pipeline = true;
    rank.updates = updates;
    return once_per_step(chunks, rank);
  }
};

// Unit by unit the first forward hides ten of its chunk's other twenty and of the next chunk's first twenty, and the
// rank waits for the rest, 30. By chunk it waits for its own chunk's other ten, and the next chunk's forty come behind.
TEST_CASE("a chunk's updates leave beside the first forward of the chunk before, which waits for its own alone") {
  const TwoChunks two;
  const OncePerStep ahead = two.once(UpdateGathers::ahead, {});
  CHECK(ahead.start == Picoseconds(20));
  CHECK(ahead.of_chunk[0].gathering == Picoseconds(30));
  CHECK(ahead.of_chunk[0].arriving == Picoseconds(0));
  CHECK(ahead.of_chunk[1].gathering == ten);
  const OncePerStep by_chunk = two.once(UpdateGathers::by_chunk, {});
  CHECK(by_chunk.start == Picoseconds(20));
  CHECK(by_chunk.of_chunk[0].gathering == ten);
  CHECK(by_chunk.of_chunk[0].arriving == Picoseconds(40));
  CHECK(by_chunk.of_chunk[1].gathering == Picoseconds(0));
  CHECK(by_chunk.of_chunk[1].arriving == Picoseconds(0));
}

// In buckets the gradients of a chunk's first unit, twenty, leave beside its backward of thirty; in one piece all forty
// follow it. The rank's first chunk has buckets either way.
TEST_CASE("a chunk's gradients leave in one piece behind its last backward, but for the rank's first chunk") {
  const TwoChunks two;
  ReductionRule rule{0, 1.0 / 8, 0, false};
  const OncePerStep of_rank = two.once(UpdateGathers::ahead, rule);
  CHECK(of_rank.of_chunk[1].reducing == Picoseconds(30 + 20));
  rule.is_by_chunk = true;
  const OncePerStep of_chunk = two.once(UpdateGathers::ahead, rule);
  CHECK(of_chunk.of_chunk[1].reducing == Picoseconds(30 + 40));
  CHECK(of_chunk.of_chunk[0].reducing == of_rank.of_chunk[0].reducing);
  CHECK(of_chunk.after == Picoseconds(0));
}

// 900 weights of fp8 products and 100 others, of 16 bits each where they are not fp8 themselves.
TEST_CASE("updated parameters that are fp8 themselves are gathered in 8 bits, unless blocks have scales of their own") {
  StateSharing sharing;
  sharing.trained = 1000;
  sharing.trained_matrices = 900;
  StackFeatures features;
  const auto bytes = [&](PrecisionRecipe recipe) {
    return updated_weights(sharing, precision_formats(recipe), features).value();
  };
  CHECK(bytes(PrecisionRecipe::fp8_delayed) == 2000);
  features.fp8_parameters = QuantizedWeights::alone;
  CHECK(bytes(PrecisionRecipe::fp8_delayed) == 1100);
  CHECK(bytes(PrecisionRecipe::fp8) == 1100);
  for (const PrecisionRecipe recipe : {PrecisionRecipe::bf16, PrecisionRecipe::mxfp8, PrecisionRecipe::nvfp4})
    CHECK(bytes(recipe) == 2000);
}

TEST_CASE("adapters beside frozen matrices are gathered in 16 bits") {
  RankParameters held;
  held.dense.matrix = held.dense_trained.matrix = 800;
  Strategy s;
  s.zero_stage = 1;
  s.data_parallel = s.shard_group = 8;
  CHECK(state_sharings(held, s).front().trained_matrices == 800);
  held.dense_trained.matrix = 80;
  CHECK(state_sharings(held, s).front().trained_matrices == 0);
}

TEST_CASE("a stack reduces chunk by chunk where a rank has several, once a step, and nothing late besides") {
  StackCalibration stack = round_calibration().stack;
  stack.features.gradient_buckets = GradientBucketsOf::chunk;
  stack.communication.data_parallel_exposure.value = 0.5;
  stack.communication.overlap_slowdown.value = 0;
  Strategy s;
  s.zero_stage = 1;
  s.pipeline_stages = 2;
  const auto rule = [&] { return reduction_rule(StageSizes{}, s, stack, PrecisionFormats{}); };
  CHECK_FALSE(rule().is_by_chunk);
  CHECK(rule().late_share == 0.5);
  s.virtual_stages = 2;
  CHECK(rule().is_by_chunk);
  CHECK(rule().late_share == 0);
  s.zero_stage = 2;
  CHECK_FALSE(rule().is_by_chunk);
}

}  // namespace
}  // namespace plumbline::update_waits_test
