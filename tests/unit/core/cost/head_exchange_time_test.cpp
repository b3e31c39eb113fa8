// What exchanges of heads take, by hand.
#include "core/cost/block_cost.h"
#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::head_exchange_time_test {
namespace {

/// A layer of 32 heads of 128 over 16 384 tokens in bf16, two context-parallel ranks of a node.
BlockCost cost_of(ContextCommunication communication) {
  const Graph graph = llama({1, 4096, 32, 32, 128, 11008, 32000});
  Training training;
  training.sequence_length = 16'384;
  training.global_batch = 1;
  training.precision = PrecisionRecipe::bf16;
  Strategy s;
  s.context_parallel = 2;
  s.context_communication = communication;
  return BlockPricer(round_cluster(1), round_calibration())
      .price(first_layer(graph), shard_of(s, training), block_groups(s));
}

}  // namespace

// A tensor of a rank: 8192 x 4096 x 2 B = 67 108 864 B. To the other rank goes half, 33 554 432 B over 18 links of 20.6
// GB/s: 90.492 us, and 5 us until it begins. Two copies read and write it: 4 x 67 108 864 B at 0.9 x 3.35 TB/s, 89.033
// us. Together 184.525 us; four of them each way 738.101 us.
TEST_CASE("an exchange of heads takes its all-to-all and two copies") {
  const BlockCost cost = cost_of(ContextCommunication::all_to_all);
  CHECK(1e6 * to_seconds(cost.forward.context_parallel).value() == Approx(738.101).epsilon(1e-5));
  CHECK(cost.backward.context_parallel == cost.forward.context_parallel);
  CHECK(cost.wire_forward.context == Bytes(4LL * 33'554'432));
  CHECK(cost.wire_backward.context == Bytes(4LL * 33'554'432));
}

// All queries of half of the heads are as many scores as half of the queries of all.
TEST_CASE("attention over a part of the heads computes what attention over a part of the queries does") {
  const BlockCost exchanged = cost_of(ContextCommunication::all_to_all);
  const BlockCost ring = cost_of(ContextCommunication::ring);
  CHECK(exchanged.flops.forward.value() == ring.flops.forward.value());
  CHECK(exchanged.flops.total().value() == ring.flops.total().value());
  // Its output is there twice: as its kernel made it, and as the next product reads it.
  CHECK(exchanged.memory().saved - ring.memory().saved == Bytes(67'108'864));
}

}  // namespace plumbline::head_exchange_time_test
