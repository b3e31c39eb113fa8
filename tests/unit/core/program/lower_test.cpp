// Lowered programs worked by hand, and faults planted into them.

#include "core/program/lower.h"

#include "core/program/action_kinds.h"
#include "core/program/buffer_check.h"
#include "core/program/program_walk.h"
#include "tests/catch.h"
#include "tests/host_copies.h"
#include "tests/lowering_inputs.h"

namespace plumbline {
namespace {

std::string listed(const RankProgram& rank) {
  std::string text;
  for (const Action& action : rank.actions) text += (text.empty() ? "" : ", ") + std::string(to_text(action.kind()));
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
  CHECK(message_of(program.ranks[0].actions[2])->peer_action == 0);
  CHECK(message_of(program.ranks[1].actions[0])->peer_action == 2);
  CHECK(program.ranks[0].actions[2].bytes() == Bytes(4));
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
        CHECK(bool(bare.ranks[r].actions[i].what == action.what));
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
    if (is_replay(action)) sent[action.stream()] += action.bytes();
  CHECK(sent[Stream::tensor] == Bytes(5));
  CHECK(sent[Stream::expert] == Bytes(3));
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("A collective of a block is a view that follows the block's action before anything else computes") {
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
      const Action* block = nullptr;
      for (const Action& view : rank.actions) {
        if (computes(view)) block = &view;
        const auto* collective = std::get_if<BlockCollective>(&view.what);
        if (collective == nullptr) continue;  // sums of partial gradients run by themselves
        ++views;
        REQUIRE(block != nullptr);
        const auto& pass = std::get<ComputePass>(block->what);
        CHECK(std::tie(pass.of, block->chunk, block->micro_batch, pass.segment) ==
              std::tie(collective->of, view.chunk, view.micro_batch, collective->segment));
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
        const bool gathers = action.kind() == ActionKind::all_gather_parameters && zero_stage >= 3;
        const bool opens = action.kind() == ActionKind::backward && zero_stage >= 2;
        const UnitSlot slot = slot_of(action);
        if (!gathers && !opens) {
          CHECK(slot == UnitSlot::none);
          continue;
        }
        ++named;
        REQUIRE(slot != UnitSlot::none);
        if (before.contains(action.kind())) CHECK(slot == other(before[action.kind()]));
        before[action.kind()] = slot;
      }
      CHECK(named == (zero_stage == 3 ? 3 * 15 : zero_stage == 2 ? 15 : 0));
    }
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
  CHECK(program.ranks[0].actions[2].bytes() == Bytes(60));
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
  CHECK(host_copies(program.ranks[0]).to_host == Bytes(std::int64_t{2} * 2 * 90));
  CHECK_FALSE(buffer_fault(program));
}

TEST_CASE("Pieces run in the order of the network forwards and against it backwards") {
  LoweringInput input = two_ranks(0);
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.push_back(segments[0]);
  std::vector<std::int32_t> order;
  const Program program = lower(input);
  for (const Action& action : program.ranks[0].actions)
    if (action.kind() == ActionKind::forward || action.kind() == ActionKind::backward)
      order.push_back(action.segment());
  CHECK(order == std::vector<std::int32_t>{0, 1, 1, 0});
}

TEST_CASE("Sends occupy nobody: what follows on the rank waits for the action before the send") {
  const Program program = lower(two_ranks(0, 2));
  const std::vector<Action>& actions = program.ranks[0].actions;
  REQUIRE(actions[2].kind() == ActionKind::send_forward);
  REQUIRE(actions[3].kind() == ActionKind::forward);
  CHECK(actions[3].needs[0] == 1);
}

TEST_CASE("A program whose ranks wait for each other is found out") {
  Program program = lower(two_ranks(0));
  std::swap(program.ranks[1].actions[0], program.ranks[1].actions[5]);  // sends the gradient before the forward
  std::get<StageMessage>(program.ranks[1].actions[0].what).peer_action = -1;
  std::get<StageMessage>(program.ranks[0].actions[3].what).peer_action = 7;
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
