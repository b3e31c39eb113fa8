// Units of several layers: what of a stage they hold, how many collectives they take, and what nothing hides, by hand.

#include "core/cost/once_per_step.h"
#include "core/cost/stage_memory.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline {
namespace {

Strategy zero3(std::int32_t layers_per_unit) {
  Strategy s;
  s.data_parallel = s.shard_group = 4;
  s.zero_stage = 3;
  s.micro_batches = 2;
  s.layers_per_unit = layers_per_unit;
  return s;
}

/// An embedding, five layers and a head.
Pricing five_layers() { return {gpt({5, 64, 4, 128, 32}), Training{}}; }

std::int64_t layer_parameters() {
  return rank_parameters(first_layer(five_layers().graph()), shard_of(zero3(1), Training{})).total();
}

// Units of 2, 2 and 1 layers besides embedding and head.
TEST_CASE("a stage has a unit for every so many layers, and one for what is left") {
  const Pricing pricing = five_layers();
  const StageCost stage = pricing.stages(zero3(2)).front();
  CHECK(stage.units == 5);
  std::vector<std::int64_t> layers;
  for (const UnitParameters& unit : stage.parameters.units)
    if (unit.kind == BlockKind::layer)
      for (std::int64_t i = 0; i < unit.count; ++i) layers.push_back(unit.dense_trained / layer_parameters());
  CHECK(layers == std::vector<std::int64_t>{2, 2, 1});
  CHECK(stage.parameters.total() == pricing.stages(zero3(1)).front().parameters.total());
  for (const auto& [per_unit, units] : std::map<std::int32_t, std::int64_t>{{1, 7}, {3, 4}, {4, 4}, {5, 3}})
    CHECK(pricing.stages(zero3(per_unit)).front().units == units);
}

// Four ranks, no padding. The embedding of 128 tokens and 32 positions stays whole for the tied head. Units of 2, 2 and
// 1 layers: the largest two neighbours hold 4 layers. Units of 4 and 1: they hold 5.
TEST_CASE("two units are whole at once, without prefetch one") {
  const Pricing pricing = five_layers();
  const auto whole = [&](std::int32_t per_unit) {
    return whole_units(pricing.stages(zero3(per_unit)).front().parameters, replica_ranks(zero3(per_unit)));
  };
  const std::int64_t layer = layer_parameters();
  const std::int64_t embedding = (128 + 32) * 64;
  REQUIRE(layer % 4 == 0);
  CHECK(whole(1).two == embedding + 2 * layer);
  CHECK(whole(2).two == embedding + 4 * layer);
  CHECK(whole(4).two == embedding + 5 * layer);
  CHECK(whole(2).one == embedding + 2 * layer);
  CHECK(whole(4).one == embedding + 4 * layer);
  CHECK(whole(2).two_trained == embedding + 4 * layer);
}

// One of 7 units or one of 5: what is gathered before a pass begins, and reduced when it has ended.
TEST_CASE("larger units are fewer collectives of the same bytes, of which more is exposed") {
  const Pricing pricing = five_layers();
  const StageCost blocks = pricing.stages(zero3(1)).front();
  const StageCost pairs = pricing.stages(zero3(2)).front();
  Calibration by_unit = round_calibration();
  by_unit.stack.communication.bucket_bytes.value = 0;
  const StepPricer steps(BlockPricer(round_cluster(1), by_unit), Training{});
  CHECK(steps.sharing_bytes(pairs.parameters, zero3(2)).gather ==
        steps.sharing_bytes(blocks.parameters, zero3(1)).gather);
  CHECK(steps.sharing_times(pairs, zero3(2)).gather < steps.sharing_times(blocks, zero3(1)).gather);
  CHECK(steps.sharing_times(pairs, zero3(2)).scatter < steps.sharing_times(blocks, zero3(1)).scatter);
  CHECK(first_units(Picoseconds(700), blocks, ParameterPrefetch::on) == Picoseconds(100));
  CHECK(first_units(Picoseconds(700), pairs, ParameterPrefetch::on) == Picoseconds(140));
}

}  // namespace
}  // namespace plumbline
