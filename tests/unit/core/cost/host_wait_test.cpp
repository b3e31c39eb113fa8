// What a device waits for the host that launches its kernels, by hand.

#include "core/cost/stage_cost.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

StageCost stage(std::int64_t forward, std::int64_t backward, std::int64_t host_forward, std::int64_t host_backward) {
  StageCost cost;
  cost.forward.compute = Picoseconds(forward);
  cost.backward.compute = Picoseconds(backward);
  cost.host_forward = Picoseconds(host_forward);
  cost.host_backward = Picoseconds(host_backward);
  return cost;
}

TEST_CASE("a host that launches faster than the device runs costs nothing") {
  const StageCost cost = stage(100, 200, 90, 150);
  CHECK(cost.forward_total() == Picoseconds(100));
  CHECK(cost.backward_total() == Picoseconds(200));
}

TEST_CASE("a slower host sets the pace of both passes") {
  const StageCost cost = stage(100, 200, 150, 260);
  CHECK(cost.forward_total() == Picoseconds(150));
  CHECK(cost.backward_total() == Picoseconds(260));
}

// 130 + 150 launched in 280, run in 300: the backward pass runs while the next forward is launched.
TEST_CASE("a host that is behind in one pass and ahead over both costs nothing") {
  const StageCost cost = stage(100, 200, 130, 150);
  CHECK(cost.forward_total() + cost.backward_total() == Picoseconds(300));
}

// Launched in 160 + 190 = 350, run in 300; late in the forward pass alone.
TEST_CASE("over a micro-batch the longer timeline counts, in the pass that launches late") {
  const StageCost cost = stage(100, 200, 160, 190);
  CHECK(cost.forward_total() == Picoseconds(150));
  CHECK(cost.backward_total() == Picoseconds(200));
}

TEST_CASE("a host that waits for the end of each pass cannot catch up") {
  StageCost cost = stage(100, 200, 130, 150);
  cost.host_waits = true;
  CHECK(cost.forward_total() == Picoseconds(130));
  CHECK(cost.backward_total() == Picoseconds(200));
}

// Weight gradients are launched in 100 and made in 80, gradients of inputs in 160 and 120: each takes its launches.
TEST_CASE("a split backward waits in the part that launches late") {
  StageCost cost = stage(100, 200, 150, 260);
  cost.backward_weight = Picoseconds(80);
  cost.host_backward_weight = Picoseconds(100);
  CHECK(cost.backward_weight_total() == Picoseconds(100));
  CHECK(cost.backward_total() - cost.backward_weight_total() == Picoseconds(160));
  cost.backward_weight = Picoseconds(110);
  CHECK(cost.backward_weight_total() == Picoseconds(110));
  CHECK(cost.backward_total() == Picoseconds(260));
}

TEST_CASE("recompute gives the device more to do while the host launches") {
  StageCost cost = stage(100, 200, 150, 260);
  cost.recompute.compute = Picoseconds(80);
  CHECK(cost.forward_total() + cost.backward_total() == Picoseconds(410));
  CHECK(cost.passes_with(Picoseconds(20)) == Picoseconds(410));
  CHECK(cost.passes_with(Picoseconds(50)) == Picoseconds(430));
}

struct Paces {
  std::int64_t device;
  std::int64_t host;
};

/// What a block costs forward; backward it is twice as much on both.
BlockCost block(Paces forward) {
  BlockCost cost;
  cost.forward.compute = Picoseconds(forward.device);
  cost.backward.compute = Picoseconds(2 * forward.device);
  cost.host_forward = Picoseconds(forward.host);
  cost.host_backward = Picoseconds(2 * forward.host);
  cost.waits_for_passes = true;
  cost.variants.resize(1);
  cost.variant_times.resize(1);
  return cost;
}

/// An embedding that costs nothing, four layers and a head.
StageCost network(Paces layer, Paces head) {
  const Graph graph = llama({4, 256, 4, 4, 64, 512, 1000});
  const StageLayout layout = stage_layout(graph, split_into_chunks(graph, 1), 1, Recompute{});
  std::vector<BlockCost> blocks;
  for (const Block& each : graph.blocks())
    blocks.push_back(block(each.kind() == BlockKind::layer    ? layer
                           : each.kind() == BlockKind::output ? head
                                                              : Paces{0, 0}));
  return StageTable(graph, layout, blocks)[0];
}

// Layers are launched in 80 and run in 40; the head's 50 begin at 80, though all is launched at 85 and is 90 to run.
// Backward the head's 100 come first, and the layers' 160 are launched while it runs: 100 + 80 or 10 + 160.
TEST_CASE("a head behind layers that the host holds up begins when they end") {
  const StageCost cost = network({10, 20}, {50, 5});
  CHECK(cost.forward_total() == Picoseconds(130));
  CHECK(cost.backward_total() == Picoseconds(180));
}

TEST_CASE("where the host runs ahead from pass to pass only totals count") {
  StageCost cost = network({10, 20}, {50, 5});
  cost.host_waits = false;
  CHECK(cost.forward_total() + cost.backward_total() == Picoseconds(270));
}

}  // namespace
}  // namespace plumbline
