// What casts of experts' operands take where they are kernels of their own.

#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

Picoseconds compute_of(ExpertCasts casts, double factor, PrecisionRecipe precision, std::int32_t experts = 8) {
  LlamaShape shape{2, 1024, 16, 8, 64, 2816, 32000};
  shape.experts = experts;
  shape.chosen = 2;
  shape.expert_width = 704;
  Training training;
  training.sequence_length = 512;
  training.global_batch = 8;
  training.precision = precision;
  Calibration calibration = round_calibration();
  calibration.stack.features.expert_casts = casts;
  calibration.stack.compute.quantisation_factor.value = factor;
  const Graph graph = llama(shape);
  const Cluster cluster = round_cluster(1);
  const Strategy s;
  const BlockCost cost =
      BlockPricer(cluster, calibration).price(first_layer(graph), shard_of(s, training), block_groups(s));
  return cost.forward.compute + cost.backward.compute;
}

constexpr auto in_8_bits = PrecisionRecipe::fp8;

TEST_CASE("casts of experts that are kernels of their own take what neighbours take off other casts") {
  CHECK(compute_of(ExpertCasts::own, 0.5, in_8_bits) > compute_of(ExpertCasts::joined, 0.5, in_8_bits));
  CHECK(compute_of(ExpertCasts::own, 1, in_8_bits) == compute_of(ExpertCasts::joined, 1, in_8_bits));
  CHECK(compute_of(ExpertCasts::padded, 0.5, in_8_bits) > compute_of(ExpertCasts::own, 0.5, in_8_bits));
}

TEST_CASE("products of 16 bits and dense layers have no casts of experts") {
  for (const ExpertCasts casts : {ExpertCasts::own, ExpertCasts::padded}) {
    CHECK(compute_of(casts, 0.5, PrecisionRecipe::bf16) == compute_of(ExpertCasts::joined, 0.5, PrecisionRecipe::bf16));
    CHECK(compute_of(casts, 0.5, in_8_bits, 0) == compute_of(ExpertCasts::joined, 0.5, in_8_bits, 0));
  }
}

}  // namespace
}  // namespace plumbline
