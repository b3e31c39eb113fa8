// When programs gather parameters and reduce gradients, worked by hand.

#include "core/program/buffer_check.h"
#include "core/program/program_walk.h"
#include "tests/catch.h"
#include "tests/lowering_inputs.h"

namespace plumbline {
namespace {

// 60 bytes, a tenth late: 54 in buckets of 20 from the end: full at 14, 34 and 54; the second segment of the network
// makes the first 27, so 14 leave after it. The first segment's other 27 fill 40 more.
TEST_CASE("Gradients of the last micro-batch are reduced in buckets, and what is late at the end") {
  LoweringInput input = one_rank(0, 2);
  RankSizes& rank = input.ranks[0];
  rank.reduction = Bytes(60);
  rank.bucket_share = 0.5;
  rank.late_share = 0.1;
  for (SegmentSizes& segment : rank.chunks[0].segments) segment.reduction = Bytes(30);
  const Program program = lower(input);
  CHECK(sharing_of(program.ranks[0]) ==
        "forward 0 of chunk 0; forward 0 of chunk 0 part 1; backward 0 of chunk 0 part 1; backward 0 of chunk 0; "
        "forward 1 of chunk 0; forward 1 of chunk 0 part 1; backward 1 of chunk 0 part 1; "
        "reduce-gradients of chunk 0 part 1 24 after last; backward 1 of chunk 0; "
        "reduce-gradients of chunk 0 30 after last; reduce-gradients 6 in order; optimizer-step");
}

TEST_CASE("A segment of several units has its full buckets reduced alongside it") {
  LoweringInput input = one_rank(0, 1);
  RankSizes& rank = input.ranks[0];
  rank.chunks[0].segments.pop_back();
  rank.reduction = Bytes(60);
  rank.bucket_share = 1.0 / 3;
  rank.chunks[0].segments[0].reduction = Bytes(60);
  rank.chunks[0].segments[0].units = 6;
  CHECK(sharing_of(lower(input).ranks[0]) ==
        "forward 0 of chunk 0; backward 0 of chunk 0; reduce-gradients of chunk 0 40 with last; "
        "reduce-gradients of chunk 0 20 after last; optimizer-step");
}

TEST_CASE("Updated parameters are gathered ahead of their units, or all before the first forward") {
  LoweringInput input = one_rank(1, 1);
  for (SegmentSizes& segment : input.ranks[0].chunks[0].segments) segment.update = Bytes(8);
  CHECK(sharing_of(lower(input).ranks[0]) ==
        "all-gather-parameters 0 of chunk 0 8 after last; forward 0 of chunk 0; "
        "all-gather-parameters 0 of chunk 0 part 1 8 with last; forward 0 of chunk 0 part 1; "
        "backward 0 of chunk 0 part 1; backward 0 of chunk 0; optimizer-step");
  input.updates = UpdateGathers::in_order;
  const Program program = lower(input);
  CHECK(sharing_of(program.ranks[0]) ==
        "all-gather-parameters 0 of chunk 0 8 after last; all-gather-parameters 0 of chunk 0 part 1 8 after last; "
        "forward 0 of chunk 0; forward 0 of chunk 0 part 1; backward 0 of chunk 0 part 1; backward 0 of chunk 0; "
        "optimizer-step");
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

/// Two interleaved ranks of two chunks and two micro-batches.
LoweringInput two_chunks() {
  LoweringInput input = two_ranks(1);
  input.schedule = compute_schedule(Schedule::interleaved, {2, 2, 2});
  for (RankSizes& rank : input.ranks) {
    rank.reduction = Bytes(0);
    rank.chunks.push_back(rank.chunks[0]);
    rank.chunks[1].segments[0].executions = {2, 3};
  }
  return input;
}

// Ahead of the second chunk's first forward by as many micro-batches as there are ranks; nothing before it waits.
TEST_CASE("Updates by chunk are gathered beside the first forward of the chunk before, and waited for by their own") {
  LoweringInput input = two_chunks();
  for (RankSizes& rank : input.ranks)
    for (ChunkSizes& chunk : rank.chunks) {
      chunk.segments[0].update = Bytes(8);
      chunk.segments[0].units = 2;
    }
  input.updates = UpdateGathers::by_chunk;
  const Program program = lower(input);
  const RankProgram& rank = program.ranks[0];
  CHECK(sharing_of(rank).starts_with(
      "all-gather-parameters 0 of chunk 0 4 after last; forward 0 of chunk 0; "
      "all-gather-parameters 0 of chunk 0 4 with last; all-gather-parameters 0 of chunk 1 8 with last; "
      "forward 1 of chunk 0; forward 0 of chunk 1; forward 1 of chunk 1; "));
  std::vector<std::int32_t> gathers;
  std::vector<std::int32_t> waits_for;  // of forwards
  for (std::int32_t i = 0; i < std::ssize(rank.actions); ++i) {
    const Action& action = rank.actions[static_cast<std::size_t>(i)];
    if (action.kind() == ActionKind::all_gather_parameters) gathers.push_back(i);
    if (action.kind() == ActionKind::forward) waits_for.push_back(action.needs[2]);
  }
  CHECK(waits_for == std::vector<std::int32_t>{gathers[0], gathers[1], gathers[2], gathers[2]});
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
  input.updates = UpdateGathers::ahead;
  CHECK(sharing_of(lower(input).ranks[0])
            .starts_with("all-gather-parameters 0 of chunk 0 4 after last; forward 0 of chunk 0; "
                         "all-gather-parameters 0 of chunk 0 4 with last; all-gather-parameters 0 of chunk 1 4 with "
                         "last; forward 1 of chunk 0; forward 0 of chunk 1; "
                         "all-gather-parameters 0 of chunk 1 4 with last; forward 1 of chunk 1; "));
}

// The second chunk of two units in one piece, although a bucket is smaller than a unit; the first unit by unit.
TEST_CASE("Gradients by chunk leave behind the last backward of their chunk, those of the first chunk in buckets") {
  LoweringInput input = two_chunks();
  for (RankSizes& rank : input.ranks) {
    rank.reduction = Bytes(16);
    rank.bucket_share = 1.0 / 16;
    for (ChunkSizes& chunk : rank.chunks) {
      chunk.segments[0].reduction = Bytes(8);
      chunk.segments[0].units = 2;
    }
  }
  const auto reductions = [&] {
    const Program program = lower(input);
    CHECK_FALSE(buffer_fault(program));
    const std::string text = sharing_of(program.ranks[0]);
    return text.substr(text.find("backward 1 of chunk 1"));
  };
  CHECK(reductions() ==
        "backward 1 of chunk 1; reduce-gradients of chunk 1 4 with last; reduce-gradients of chunk 1 4 after last; "
        "backward 0 of chunk 0; backward 1 of chunk 0; reduce-gradients of chunk 0 4 with last; "
        "reduce-gradients of chunk 0 4 after last; optimizer-step");
  for (RankSizes& rank : input.ranks) rank.is_by_chunk = true;
  CHECK(reductions() ==
        "backward 1 of chunk 1; reduce-gradients of chunk 1 8 after last; backward 0 of chunk 0; "
        "backward 1 of chunk 0; reduce-gradients of chunk 0 4 with last; reduce-gradients of chunk 0 4 after last; "
        "optimizer-step");
}

TEST_CASE("ZeRO-3 gathers one unit ahead and reduces unit by unit; the first and the last are waited for") {
  LoweringInput input = one_rank(3, 1);
  for (SegmentSizes& segment : input.ranks[0].chunks[0].segments) {
    segment.gather = Bytes(8);
    segment.scatter = Bytes(6);
  }
  const Program program = lower(input);
  CHECK(sharing_of(program.ranks[0]) ==
        "all-gather-parameters 0 of chunk 0 8 in order; forward 0 of chunk 0; "
        "all-gather-parameters 0 of chunk 0 part 1 8 with last; forward 0 of chunk 0 part 1; "
        "release-parameters 0 of chunk 0 part 1 0 in order; all-gather-parameters 0 of chunk 0 part 1 8 in order; "
        "backward 0 of chunk 0 part 1; all-gather-parameters 0 of chunk 0 8 with last; "
        "reduce-gradients 0 of chunk 0 part 1 6 after last; backward 0 of chunk 0; "
        "release-parameters 0 of chunk 0 0 in order; reduce-gradients 0 of chunk 0 6 in order; optimizer-step");
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

// Of each pass 12 bytes in buckets of 8, counted from the end: 4 are full when the second segment of the network has
// made its 6; by unit each segment's leave when they are made.
TEST_CASE("sharded gradients are collected in the stack's buckets, or scattered by unit for those who execute") {
  LoweringInput input = one_rank(2, 1);
  RankSizes& rank = input.ranks[0];
  rank.bucket_share = rank.scatter_bucket_share = 2.0 / 3;
  for (SegmentSizes& segment : rank.chunks[0].segments) segment.scatter = Bytes(6);
  CHECK(sharing_of(lower(input).ranks[0]) ==
        "forward 0 of chunk 0; forward 0 of chunk 0 part 1; backward 0 of chunk 0 part 1; "
        "reduce-gradients 0 of chunk 0 part 1 4 after last; backward 0 of chunk 0; "
        "reduce-gradients 0 of chunk 0 8 in order; optimizer-step");
  CHECK(sharing_of(lower(scattered_by_unit(input)).ranks[0]) ==
        "forward 0 of chunk 0; forward 0 of chunk 0 part 1; backward 0 of chunk 0 part 1; "
        "reduce-gradients 0 of chunk 0 part 1 6 after last; backward 0 of chunk 0; "
        "reduce-gradients 0 of chunk 0 6 in order; optimizer-step");
}

TEST_CASE("ZeRO-3 without prefetch gathers every unit when it begins, into the same slot") {
  LoweringInput input = one_rank(3, 1);
  input.prefetch = ParameterPrefetch::off;
  for (SegmentSizes& segment : input.ranks[0].chunks[0].segments) segment.gather = Bytes(8);
  const Program program = lower(input);
  CHECK(sharing_of(program.ranks[0]) ==
        "all-gather-parameters 0 of chunk 0 8 in order; forward 0 of chunk 0; "
        "all-gather-parameters 0 of chunk 0 part 1 8 in order; forward 0 of chunk 0 part 1; "
        "release-parameters 0 of chunk 0 part 1 0 in order; all-gather-parameters 0 of chunk 0 part 1 8 in order; "
        "backward 0 of chunk 0 part 1; all-gather-parameters 0 of chunk 0 8 in order; backward 0 of chunk 0; "
        "release-parameters 0 of chunk 0 0 in order; reduce-gradients 0 of chunk 0 0 in order; optimizer-step");
  for (const Action& action : program.ranks[0].actions)
    if (action.kind() == ActionKind::all_gather_parameters) CHECK(slot_of(action) == UnitSlot::first);
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

/// One micro-batch of four segments, of which two and two are a unit: 16 bytes to gather, 12 to scatter.
LoweringInput units_of_two() {
  LoweringInput input = one_rank(3, 1);
  ChunkSizes& chunk = input.ranks[0].chunks[0];
  chunk.segments.resize(4, chunk.segments.front());
  chunk.units = {{0, 2}, {2, 4}};
  for (std::int32_t i = 0; i < 4; ++i) {
    SegmentSizes& segment = chunk.segments[static_cast<std::size_t>(i)];
    segment.executions = {i, i + 1, i / 2 * 2};
    segment.units = i % 2 == 0 ? 1 : 0;
    segment.gather = Bytes(i % 2 == 0 ? 16 : 0);
    segment.scatter = Bytes(i % 2 == 0 ? 12 : 0);
  }
  return input;
}

/// Of the first action of this kind, pass and segment.
std::int32_t index_of(const RankProgram& rank, ActionKind kind, Pass pass, std::int32_t segment) {
  for (std::int32_t i = 0; i < std::ssize(rank.actions); ++i) {
    const Action& action = rank.actions[static_cast<std::size_t>(i)];
    if (action.kind() == kind && action.pass() == pass && action.segment() == segment) return i;
  }
  return -1;
}

// Behind the first segment of the first unit goes the second unit's gather; the first unit's gradients leave when both
// of its segments have made theirs.
TEST_CASE("units of two segments are gathered when the first begins and reduced when both have made gradients") {
  const Program program = lower(units_of_two());
  const RankProgram& rank = program.ranks[0];
  CHECK(sharing_of(rank) ==
        "all-gather-parameters 0 of chunk 0 16 in order; forward 0 of chunk 0; "
        "all-gather-parameters 0 of chunk 0 part 2 16 with last; forward 0 of chunk 0 part 1; "
        "forward 0 of chunk 0 part 2; forward 0 of chunk 0 part 3; release-parameters 0 of chunk 0 part 3 0 in order; "
        "all-gather-parameters 0 of chunk 0 part 3 16 in order; backward 0 of chunk 0 part 3; "
        "all-gather-parameters 0 of chunk 0 part 1 16 with last; backward 0 of chunk 0 part 2; "
        "reduce-gradients 0 of chunk 0 part 2 12 after last; backward 0 of chunk 0 part 1; backward 0 of chunk 0; "
        "release-parameters 0 of chunk 0 0 in order; reduce-gradients 0 of chunk 0 12 in order; optimizer-step");
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

TEST_CASE("inside a unit no segment waits for the next unit, and gradients lie in one slot") {
  const Program program = lower(units_of_two());
  const RankProgram& rank = program.ranks[0];
  const auto action = [&](ActionKind kind, Pass pass, std::int32_t segment) {
    return rank.actions[static_cast<std::size_t>(index_of(rank, kind, pass, segment))];
  };
  CHECK(action(ActionKind::forward, Pass::forward, 1).needs[2] == -1);
  CHECK(action(ActionKind::forward, Pass::forward, 2).needs[2] ==
        index_of(rank, ActionKind::all_gather_parameters, Pass::forward, 2));
  CHECK(action(ActionKind::forward, Pass::forward, 3).needs[2] == -1);
  CHECK(action(ActionKind::backward, Pass::backward, 2).needs[2] == -1);
  CHECK(action(ActionKind::backward, Pass::backward, 1).needs[2] ==
        index_of(rank, ActionKind::all_gather_parameters, Pass::backward, 1));
  for (const std::int32_t segment : {3, 2})
    CHECK(slot_of(action(ActionKind::backward, Pass::backward, segment)) == UnitSlot::first);
  for (const std::int32_t segment : {1, 0})
    CHECK(slot_of(action(ActionKind::backward, Pass::backward, segment)) == UnitSlot::second);
  for (const Action& each : rank.actions)
    if (each.kind() == ActionKind::reduce_gradients || each.kind() == ActionKind::all_gather_parameters)
      CHECK(std::ssize(units_of(each, rank)) == 1);
}

TEST_CASE("units of two segments without prefetch are gathered when they begin") {
  LoweringInput input = units_of_two();
  input.prefetch = ParameterPrefetch::off;
  const Program program = lower(input);
  CHECK(sharing_of(program.ranks[0])
            .starts_with(
                "all-gather-parameters 0 of chunk 0 16 in order; forward 0 of chunk 0; forward 0 of chunk 0 part 1; "
                "all-gather-parameters 0 of chunk 0 part 2 16 in order; forward 0 of chunk 0 part 2; "
                "forward 0 of chunk 0 part 3; release-parameters 0 of chunk 0 part 3 0 in order; "));
  CHECK_FALSE(buffer_fault(program));
}

}  // namespace
}  // namespace plumbline
