// Which units actions name, worked by hand.

#include "core/program/unit_table.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

using passes::UnitQueue;
using passes::UnitTable;

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

// Of four executions the first and the last are a unit each, the two between them one, named by its first.
TEST_CASE("segments of one unit have the same run, and a segment of several units all of theirs") {
  RankSizes rank;
  rank.chunks.reserve(2);
  ChunkSizes& blocks = rank.chunks.emplace_back();
  for (std::int32_t i = 0; i < 4; ++i) blocks.segments.emplace_back().executions = {i, i + 1};
  blocks.units = {{0, 1}, {1, 3}, {3, 4}};
  ChunkSizes& whole = rank.chunks.emplace_back();
  whole.segments.emplace_back().executions = {0, 4};
  whole.units = blocks.units;
  UnitTable table(rank);
  for (const Pass pass : {Pass::forward, Pass::backward})
    CHECK(bool(table.of_segment(pass, 0, 1) == table.of_segment(pass, 0, 2)));
  CHECK(bool(table.of_segment(Pass::forward, 0, 2) == UnitRun{1, 1}));
  CHECK(bool(table.of_segment(Pass::backward, 1, 0) == UnitRun{9, 3}));
  CHECK(table.take() == std::vector<std::int32_t>{0, 1, 3, 3, 1, 0, 0, 1, 3, 3, 1, 0});
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
