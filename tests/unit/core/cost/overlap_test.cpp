// Compute alongside communication, by hand.

#include "core/cost/overlap.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

// Both at 1/1.5 of their pace for 45, when 30 of each is done; then 70 of compute.
TEST_CASE("the shorter one slows the longer one for as long as it lasts") {
  const Overlapped both = overlapped(Picoseconds(100), Picoseconds(30), 0.5);
  CHECK(both.compute_end == Picoseconds(115));
  CHECK(both.end == Picoseconds(115));
  const Overlapped long_communication = overlapped(Picoseconds(30), Picoseconds(100), 0.5);
  CHECK(long_communication.compute_end == Picoseconds(45));
  CHECK(long_communication.end == Picoseconds(115));
}

TEST_CASE("a slowdown of 1 is one after the other, of 0 the longer one") {
  CHECK(overlapped(Picoseconds(100), Picoseconds(30), 1).end == Picoseconds(130));
  CHECK(overlapped(Picoseconds(100), Picoseconds(30), 0).end == Picoseconds(100));
}

}  // namespace
}  // namespace plumbline
