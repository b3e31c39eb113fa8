// Which units actions name, worked by hand.

#include "core/program/unit_table.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

using passes::UnitQueue;
using passes::UnitRun;
using passes::UnitTable;

bool operator==(UnitRun a, UnitRun b) { return a.first == b.first && a.count == b.count; }

TEST_CASE("a chunk's units stand in the order of the network, and against it") {
  RankSizes rank;
  SegmentSizes first;
  first.executions = {0, 2};
  SegmentSizes second;
  second.executions = {2, 3};
  rank.chunks = {{{first, second}, Bytes(0), Bytes(0)}};
  UnitTable table(rank);
  const UnitRun forward = table.of_segment(Pass::forward, 0, 1);
  const UnitRun backward = table.of_segment(Pass::backward, 0, 0);
  table.append(backward);
  const std::vector<std::int32_t> units = table.take();
  CHECK(units == std::vector<std::int32_t>{0, 1, 2, 2, 1, 0, 1, 0});
  CHECK(bool(forward == UnitRun{2, 1}));
  CHECK(bool(backward == UnitRun{4, 2}));
}

// Three units of 10 bytes: 15 bytes end the first, 15 more the other two.
TEST_CASE("a unit stands with the action that sends its last byte") {
  UnitQueue queue(5);
  queue.add(2, Bytes(20));
  CHECK(bool(queue.send(Bytes(15)) == UnitRun{5, 1}));
  queue.add(1, Bytes(10));
  CHECK(bool(queue.send(Bytes(0)) == UnitRun{6, 0}));
  CHECK(bool(queue.send(Bytes(15)) == UnitRun{6, 2}));
  queue.add(2, Bytes(0));
  CHECK(bool(queue.rest() == UnitRun{8, 2}));
  CHECK(bool(queue.rest() == UnitRun{10, 0}));
}

}  // namespace
}  // namespace plumbline
