// Two passes of a stage beside what shares its states, by hand: 100 and 200 to run, 150 and 250 to launch.

#include "core/cost/shared_passes.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

RankTimes passes(std::int64_t scatter, double synchronisation) {
  StageCost stage;
  stage.forward.compute = Picoseconds(100);
  stage.backward.compute = Picoseconds(200);
  stage.host_forward = Picoseconds(150);
  stage.host_backward = Picoseconds(250);
  stage.synchronisation = synchronisation;
  SharingTimes shared;
  shared.scatter = Picoseconds(scatter);
  const Picoseconds last(std::min<std::int64_t>(scatter, 30));
  return shared_passes(stage, {}, {shared, last, 0.0, false});
}

TEST_CASE("without shared states both passes wait until they are launched") {
  const RankTimes times = passes(0, 0);
  CHECK(times.forward == Picoseconds(150));
  CHECK(times.backward == Picoseconds(250));
}

// 100 + max(200, 270) + 30 = 400: the 400 that launching takes are over when the gradients are reduced.
TEST_CASE("a host that runs ahead launches while the device waits for gradients to be reduced") {
  const RankTimes times = passes(300, 0);
  CHECK(times.forward_wait + times.backward_wait == Picoseconds(0));
  CHECK(times.forward == Picoseconds(100));
  CHECK(times.backward == Picoseconds(300));
  CHECK(times.scatter == Picoseconds(100));
}

// 30 of the 50 that launching the backward takes longer pass beside the last gradients: 150 + max(220, 210) + 30 = 400.
TEST_CASE("what exposed reductions do not hide of the host's lateness is waited for") {
  const RankTimes times = passes(240, 0);
  CHECK(times.forward_wait == Picoseconds(50));
  CHECK(times.backward_wait == Picoseconds(20));
  CHECK(times.forward == Picoseconds(150));
  CHECK(times.backward == Picoseconds(250));
  CHECK(times.scatter == Picoseconds(30));
}

// The backward takes max(200, 230) + 30 = 260, 10 more than launching it: 140 + 260 = 400.
TEST_CASE("what is exposed beyond the lateness of a pass lets the host gain on the other") {
  const RankTimes times = passes(260, 0);
  CHECK(times.forward_wait == Picoseconds(40));
  CHECK(times.backward_wait == Picoseconds(0));
  CHECK(times.forward == Picoseconds(140));
  CHECK(times.backward == Picoseconds(260));
}

// 150 + max(250, 270) + 30.
TEST_CASE("a host that waits for the end of each pass gains nothing from what is exposed") {
  const RankTimes times = passes(300, 1);
  CHECK(times.forward == Picoseconds(150));
  CHECK(times.backward == Picoseconds(300));
}

}  // namespace
}  // namespace plumbline
