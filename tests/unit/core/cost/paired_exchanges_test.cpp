// What exchanges of experts leave exposed where a schedule pairs passes.

#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

PhaseTime forward_of(Schedule schedule, const Calibration& calibration) {
  LlamaShape mixture{2, 1024, 16, 8, 64, 2816, 32000};
  mixture.experts = 8;
  mixture.chosen = 2;
  mixture.expert_width = 704;
  Training training;
  training.sequence_length = 512;
  training.global_batch = 8;
  Strategy s;
  s.schedule = schedule;
  s.data_parallel = s.expert_parallel = 4;
  const Graph graph = llama(mixture);
  const Cluster cluster = round_cluster(1);
  return BlockPricer(cluster, calibration).price(first_layer(graph), shard_of(s, training), block_groups(s)).forward;
}

Calibration exposing(double exposure) {
  Calibration calibration = round_calibration();
  calibration.stack.communication.expert_parallel_exposure.value = exposure;
  return calibration;
}

TEST_CASE("exchanges of experts alongside another pass show what both slow each other") {
  const Calibration whole = exposing(1);
  const Picoseconds alone = forward_of(Schedule::one_f_one_b, whole).expert_parallel;
  REQUIRE(alone > Picoseconds(0));
  const double shown = forward_of(Schedule::dualpipev, whole).expert_parallel / alone;
  CHECK(shown == Approx(0.19).epsilon(1e-6));
  CHECK(forward_of(Schedule::zbv, whole).expert_parallel == alone);
  CHECK(forward_of(Schedule::dualpipev, whole).compute == forward_of(Schedule::one_f_one_b, whole).compute);
}

TEST_CASE("a stack that hides more anyway goes on hiding it, and one that runs in order hides nothing") {
  const Calibration hiding = exposing(0.1);
  CHECK(forward_of(Schedule::dualpipev, hiding).expert_parallel ==
        forward_of(Schedule::one_f_one_b, hiding).expert_parallel);
  Calibration in_order = exposing(1);
  in_order.stack.features.paired_exchanges = PairedExchanges::in_order;
  CHECK(forward_of(Schedule::dualpipev, in_order).expert_parallel ==
        forward_of(Schedule::one_f_one_b, in_order).expert_parallel);
}

}  // namespace
}  // namespace plumbline
