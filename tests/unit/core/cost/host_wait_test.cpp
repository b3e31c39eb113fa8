// What a device waits for the host that launches its kernels, by hand.

#include "core/cost/stage_cost.h"
#include "tests/catch.h"

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
  cost.synchronisation = 1;
  CHECK(cost.forward_total() == Picoseconds(130));
  CHECK(cost.backward_total() == Picoseconds(200));
}

TEST_CASE("recompute gives the device more to do while the host launches") {
  StageCost cost = stage(100, 200, 150, 260);
  cost.recompute.compute = Picoseconds(80);
  CHECK(cost.forward_total() + cost.backward_total() == Picoseconds(410));
  CHECK(cost.passes_with(Picoseconds(20)) == Picoseconds(410));
  CHECK(cost.passes_with(Picoseconds(50)) == Picoseconds(430));
}

}  // namespace
}  // namespace plumbline
