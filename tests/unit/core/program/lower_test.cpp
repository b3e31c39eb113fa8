// Lowered programs worked by hand, and faults planted into them.

#include "core/program/lower.h"

#include "core/program/buffer_check.h"
#include "core/program/host_copies.h"
#include "core/program/program_walk.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two ranks of one segment each, one micro-batch, everything that a plan may have.
LoweringInput two_ranks(std::int32_t zero_stage, std::int32_t micro_batches = 1) {
  LoweringInput input;
  input.zero_stage = zero_stage;
  input.schedule = compute_schedule(Schedule::one_f_one_b, {2, 1, micro_batches});
  SegmentSizes segment;
  segment.executions = {0, 1};
  segment.memory.saved = Bytes(100);
  segment.memory.working.forward = Bytes(10);
  segment.memory.working.backward = Bytes(30);
  segment.forward.tensor = segment.backward.tensor = Bytes(8);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};
  rank.persistent = {{MemoryClass::weights, Bytes(1000)}, {MemoryClass::gradients, Bytes(1000)}};
  if (zero_stage >= 3) rank.gathered_parameters = Bytes(50);
  if (zero_stage >= 2) rank.gathered_gradients = Bytes(60);
  rank.reduction = Bytes(5);
  input.ranks = {rank, rank};
  return input;
}

std::string listed(const RankProgram& rank) {
  std::string text;
  for (const Action& action : rank.actions) text += (text.empty() ? "" : ", ") + std::string(to_text(action.kind));
  return text;
}

TEST_CASE("Two ranks: messages between them, collectives after compute, one reduction, one optimizer step") {
  const Program program = lower(two_ranks(0));
  CHECK(listed(program.ranks[0]) ==
        "forward, tensor-collective, send-forward, receive-backward, backward, tensor-collective, reduce-gradients, "
        "optimizer-step");
  CHECK(listed(program.ranks[1]) ==
        "receive-forward, forward, tensor-collective, backward, tensor-collective, send-backward, reduce-gradients, "
        "optimizer-step");
  CHECK(program.ranks[0].actions[2].peer_action == 0);
  CHECK(program.ranks[1].actions[0].peer_action == 2);
  CHECK(program.ranks[0].actions[2].bytes == Bytes(4));
  CHECK_FALSE(dry_run(program));
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("without buffers a program has the same actions, which wait for the same") {
  for (const std::int32_t zero_stage : {0, 1, 2, 3}) {
    const Program whole = lower(two_ranks(zero_stage, 4));
    const Program bare = lower_without_buffers(two_ranks(zero_stage, 4));
    CHECK(bare.overlapped_actions == whole.overlapped_actions);
    for (std::size_t r = 0; r < whole.ranks.size(); ++r) {
      CHECK(listed(bare.ranks[r]) == listed(whole.ranks[r]));
      CHECK((bare.ranks[r].uses.empty() && bare.ranks[r].buffers.empty()));
      for (std::size_t i = 0; i < whole.ranks[r].actions.size(); ++i) {
        const Action& action = whole.ranks[r].actions[i];
        CHECK(bare.ranks[r].actions[i].needs == action.needs);
        CHECK(bare.ranks[r].actions[i].peer_action == action.peer_action);
        CHECK(bare.ranks[r].actions[i].bytes == action.bytes);
      }
    }
  }
}

TEST_CASE("ZeRO-3 gathers and releases around every pass and reduces after every backward") {
  const Program program = lower(two_ranks(3));
  CHECK(listed(program.ranks[0]) ==
        "all-gather-parameters, forward, tensor-collective, release-parameters, send-forward, receive-backward, "
        "all-gather-parameters, backward, tensor-collective, release-parameters, reduce-gradients, reduce-gradients, "
        "optimizer-step");
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Recompute stands before its backward, and restores what the backward reads") {
  LoweringInput input = two_ranks(0);
  input.ranks[0].chunks[0].segments[0].restores = Restores::something;
  const Program program = lower(input);
  CHECK(listed(program.ranks[0]).find("receive-backward, recompute, backward") != std::string::npos);
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Collectives of a recompute stand behind it, with bytes of their own") {
  LoweringInput input = two_ranks(0);
  SegmentSizes& segment = input.ranks[0].chunks[0].segments[0];
  segment.restores = Restores::something;
  segment.recompute = {Bytes(5), Bytes(0), Bytes(3)};
  const Program program = lower(input);
  CHECK(listed(program.ranks[0])
            .find("receive-backward, recompute, tensor-collective, expert-collective, backward, "
                  "tensor-collective, reduce") != std::string::npos);
  std::map<Stream, Bytes> sent;
  for (const Action& action : program.ranks[0].actions)
    if (action.replay == IsReplay::yes) sent[action.stream] += action.bytes;
  CHECK(sent[Stream::tensor] == Bytes(5));
  CHECK(sent[Stream::expert] == Bytes(3));
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("A collective of a block is a view that names the block's action, wherever else it stands") {
  for (const std::int32_t zero_stage : {0, 1, 2, 3}) {
    LoweringInput input = two_ranks(zero_stage, 3);
    for (RankSizes& rank : input.ranks) {
      SegmentSizes& segment = rank.chunks[0].segments[0];
      segment.restores = Restores::something;
      segment.recompute = {Bytes(5), Bytes(2), Bytes(3)};
      rank.partial = Bytes(6);
      rank.packed_partial = Bytes(6);
    }
    for (const RankProgram& rank : lower(input).ranks) {
      int views = 0;
      for (std::size_t i = 0; i < rank.actions.size(); ++i) {
        const Action& view = rank.actions[i];
        if (view.stream != Stream::tensor && view.stream != Stream::context && view.stream != Stream::expert) {
          CHECK(view.inside == 0);
          continue;
        }
        if (view.pass == Pass::step) {
          CHECK(view.inside == 0);  // sums of partial gradients run by themselves
          continue;
        }
        ++views;
        REQUIRE(view.inside > 0);
        const Action& block = rank.actions[i - view.inside];
        CHECK(block.stream == Stream::compute);
        CHECK(std::tie(block.pass, block.chunk, block.micro_batch, block.segment, block.replay) ==
              std::tie(view.pass, view.chunk, view.micro_batch, view.segment, view.replay));
      }
      CHECK(views == 3 * (1 + 3 + 1));  // tensor of both passes, all three of the recompute
    }
  }
}

/// Five segments of a unit each on one rank.
LoweringInput five_units(std::int32_t zero_stage, std::int32_t micro_batches) {
  LoweringInput input = two_ranks(zero_stage, micro_batches);
  for (RankSizes& rank : input.ranks) {
    SegmentSizes segment = rank.chunks[0].segments[0];
    segment.gather = segment.scatter = Bytes(8);
    rank.chunks[0].segments.clear();
    for (std::int32_t i = 0; i < 5; ++i) {
      segment.executions = {i, i + 1};
      rank.chunks[0].segments.push_back(segment);
    }
  }
  return input;
}

// What is gathered alongside a unit, or reduced alongside the gradients of the next one, must not lie where that does.
TEST_CASE("Neighbours that are whole at once have the two slots, which the program names") {
  for (const std::int32_t zero_stage : {0, 1, 2, 3})
    for (const RankProgram& rank : lower(five_units(zero_stage, 3)).ranks) {
      std::map<ActionKind, UnitSlot> before;
      int named = 0;
      for (const Action& action : rank.actions) {
        const bool gathers = action.kind == ActionKind::all_gather_parameters && zero_stage >= 3;
        const bool opens = action.kind == ActionKind::backward && zero_stage >= 2;
        if (!gathers && !opens) {
          CHECK(action.slot == UnitSlot::none);
          continue;
        }
        ++named;
        REQUIRE(action.slot != UnitSlot::none);
        if (before.contains(action.kind)) CHECK(action.slot == other(before[action.kind]));
        before[action.kind] = action.slot;
      }
      CHECK(named == (zero_stage == 3 ? 3 * 15 : zero_stage == 2 ? 15 : 0));
    }
}

/// "kind bytes issue" of what shares states.
std::string sharing_of(const RankProgram& rank) {
  constexpr std::array issues{"in order", "with last", "after last"};
  std::string text;
  for (const Action& action : rank.actions)
    if (action.stream == Stream::data)
      text += (text.empty() ? "" : "; ") + to_text(action) + " " + std::to_string(action.bytes.value()) + " " +
              issues[static_cast<std::size_t>(action.issue)];
    else if (action.stream == Stream::compute)
      text += (text.empty() ? "" : "; ") + to_text(action);
  return text;
}

/// One rank without a pipeline, one chunk of two segments.
LoweringInput one_rank(std::int32_t zero_stage, std::int32_t micro_batches) {
  LoweringInput input = two_ranks(zero_stage);
  input.schedule = compute_schedule(Schedule::none, {1, 1, micro_batches});
  input.ranks.pop_back();
  input.ranks[0].reduction = Bytes(0);
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.push_back(segments[0]);
  return input;
}

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
    if (action.kind == ActionKind::all_gather_parameters) CHECK(action.slot == UnitSlot::first);
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
    if (action.kind == kind && action.pass == pass && action.segment == segment) return i;
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
    CHECK(action(ActionKind::backward, Pass::backward, segment).slot == UnitSlot::first);
  for (const std::int32_t segment : {1, 0})
    CHECK(action(ActionKind::backward, Pass::backward, segment).slot == UnitSlot::second);
  for (const Action& each : rank.actions)
    if (each.kind == ActionKind::reduce_gradients || each.kind == ActionKind::all_gather_parameters)
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

/// One micro-batch of four segments on one rank, of which the first two wait on the host.
LoweringInput offloaded_halves() {
  LoweringInput input = one_rank(0, 1);
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.resize(4, segments[0]);
  for (const std::size_t i : {0U, 1U}) segments[i].offloaded = Bytes(60);
  return input;
}

TEST_CASE("Offloaded activations leave alongside the next segment and come back alongside the one before theirs") {
  LoweringInput input = offloaded_halves();
  input.ranks[0].offloaded_states = Bytes(500);
  const Program program = lower(input);
  CHECK(listed(program.ranks[0]) ==
        "forward, tensor-collective, forward, offload, tensor-collective, forward, offload, tensor-collective, "
        "forward, tensor-collective, backward, tensor-collective, fetch, backward, tensor-collective, fetch, backward, "
        "tensor-collective, backward, tensor-collective, fetch, optimizer-step, offload");
  CHECK_FALSE(buffer_fault(program));
  CHECK(host_copies(program.ranks[0]) == HostCopies{Bytes(120), Bytes(120), Bytes(120), 2});
}

// By their places in the list above: what left alongside a segment is waited for by the segment behind that, what
// comes back by its own backward.
TEST_CASE("A segment waits for the copy that began with the segment before it, a backward for what it reads") {
  const Program program = lower(offloaded_halves());
  const std::vector<Action>& actions = program.ranks[0].actions;
  const auto copy_needed = [&](std::size_t action) { return actions[action].needs[3]; };
  CHECK(copy_needed(2) == -1);
  CHECK(copy_needed(5) == 3);
  CHECK(copy_needed(8) == 6);
  CHECK(copy_needed(13) == -1);
  CHECK(copy_needed(16) == 12);
  CHECK(copy_needed(18) == 15);
  CHECK(actions[15].needs == std::array<std::int32_t, 4>{14, -1, -1, 12});
}

TEST_CASE("What a backward needs before it could have left and come back stays on the device") {
  LoweringInput input = two_ranks(0, 2);
  input.ranks[0].chunks[0].segments[0].offloaded = Bytes(60);
  const Program program = lower(input);
  CHECK(listed(program.ranks[0]).find("offload") == std::string::npos);
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Copies inside of a segment of several blocks show behind its forward and before its backward") {
  LoweringInput input = two_ranks(0);
  input.ranks[0].chunks[0].segments[0].copied_inside = Bytes(60);
  const Program program = lower(input);
  CHECK(listed(program.ranks[0]) ==
        "forward, tensor-collective, offload, send-forward, receive-backward, fetch, backward, tensor-collective, "
        "reduce-gradients, optimizer-step");
  CHECK(program.ranks[0].actions[2].bytes == Bytes(60));
  CHECK(program.overlapped_actions == 0);
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Of a split backward, what weight gradients read is copied too and stays for them") {
  LoweringInput input = two_ranks(0);
  input.schedule = compute_schedule(Schedule::zb_h1, {2, 1, 2});
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments[0].memory.kept_for_weight = Bytes(30);
  segments.resize(4, segments[0]);
  for (const std::size_t i : {0U, 1U}) {
    segments[i].offloaded = Bytes(60);
    segments[i].offloaded_for_weight = Bytes(30);
  }
  const Program program = lower(input);
  CHECK(host_copies(program.ranks[0]).to_host == Bytes(2 * 2 * 90));
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Pieces run in the order of the network forwards and against it backwards") {
  LoweringInput input = two_ranks(0);
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.push_back(segments[0]);
  std::vector<std::int32_t> order;
  const Program program = lower(input);
  for (const Action& action : program.ranks[0].actions)
    if (action.kind == ActionKind::forward || action.kind == ActionKind::backward) order.push_back(action.segment);
  CHECK(order == std::vector<std::int32_t>{0, 1, 1, 0});
}

TEST_CASE("Sends occupy nobody: what follows on the rank waits for the action before the send") {
  const Program program = lower(two_ranks(0, 2));
  const std::vector<Action>& actions = program.ranks[0].actions;
  REQUIRE(actions[2].kind == ActionKind::send_forward);
  REQUIRE(actions[3].kind == ActionKind::forward);
  CHECK(actions[3].needs[0] == 1);
}

TEST_CASE("A program whose ranks wait for each other is found out") {
  Program program = lower(two_ranks(0));
  std::swap(program.ranks[1].actions[0], program.ranks[1].actions[5]);  // sends the gradient before the forward
  program.ranks[1].actions[0].peer_action = -1;
  program.ranks[0].actions[3].peer_action = 7;
  const auto stalled = dry_run(program);
  REQUIRE(stalled);
  CHECK(*stalled == "rank 0 waits at receive-backward 0 of chunk 0 for rank 1, rank 1 waits at optimizer-step");
}

TEST_CASE("Reading before writing, using after release and leaking are named") {
  const auto fault_after = [](const auto& change) {
    Program program = lower(two_ranks(0));
    change(program.ranks[0]);
    return buffer_fault(program).value_or("none");
  };
  const auto drop = [](RankProgram& rank, Access access, MemoryClass of) {
    for (BufferUse& use : rank.uses)
      if (use.access == access && rank.buffers[static_cast<std::size_t>(use.buffer)].memory_class == of)
        use = {0, Access::read};
  };
  constexpr auto activations = MemoryClass::activations;
  CHECK(fault_after([&](RankProgram& r) { drop(r, Access::write, activations); }) ==
        "rank 0: backward 0 of chunk 0 reads before anything is written to buffer 2 (activations)");
  CHECK(fault_after([&](RankProgram& r) { drop(r, Access::allocate, activations); }) ==
        "rank 0: forward 0 of chunk 0 uses after release buffer 2 (activations)");
  CHECK(fault_after([&](RankProgram& r) { drop(r, Access::release, activations); }) ==
        "rank 0: buffer 2 (activations) is not as before at the end of the step");
}

}  // namespace
}  // namespace plumbline
