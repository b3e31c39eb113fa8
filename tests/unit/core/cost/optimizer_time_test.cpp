// Muon's products, counted by hand.

#include "core/cost/optimizer_time.h"

#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::optimizer_time_test {
namespace {

constexpr std::int64_t hidden = 768;

Picoseconds orthogonalisation(const Strategy& strategy, Optimizer optimizer) {
  const Graph graph = gpt({1, hidden, 12, 32000, 512});
  Training training;
  training.sequence_length = 512;
  training.optimizer = optimizer;
  const BlockPricer pricer(round_cluster(4), round_calibration());
  Picoseconds sum(0);
  for (const Block& block : graph.blocks())
    sum += pricer.price(block, shard_of(strategy, training), block_groups(strategy)).orthogonalisation;
  return sum;
}

/// Five iterations of XX^T, AA and (bA + cA^2)X, where X has m rows and n >= m columns.
Seconds newton_schulz(std::int64_t m, std::int64_t n) {
  const KernelClock kernels(round_cluster(4).groups.front().node.device, round_calibration());
  constexpr NumberFormat format = NumberFormat::bf16;
  return 5. * (kernels.product({1, m, m, n}, format) + kernels.product({1, m, m, m}, format) +
               kernels.product({1, m, n, m}, format));
}

// A layer of GPT trains matrices of query, key, value and projection, and two of the MLP. Its embedding is none of
// them.
TEST_CASE("Muon orthogonalises every matrix of a layer in its own shape, the shorter side first") {
  const Seconds layer = 4. * newton_schulz(hidden, hidden) + 2. * newton_schulz(hidden, 4 * hidden);
  CHECK(to_seconds(orthogonalisation({}, Optimizer::muon)).value() == Approx(layer.value()).epsilon(1e-9));
  CHECK(orthogonalisation({}, Optimizer::adamw) == Picoseconds(0));
}

TEST_CASE("tensor-parallel ranks orthogonalise whole matrices") {
  for (const std::int32_t ranks : {2, 3, 4}) {
    Strategy strategy;
    strategy.tensor_parallel = ranks;
    CHECK(orthogonalisation(strategy, Optimizer::muon) == orthogonalisation({}, Optimizer::muon));
  }
}

}  // namespace
}  // namespace plumbline::optimizer_time_test
