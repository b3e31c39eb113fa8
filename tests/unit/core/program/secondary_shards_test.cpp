// Programs whose backwards gather over a smaller group, worked by hand.

#include "core/program/buffer_check.h"
#include "core/program/program_walk.h"
#include "tests/catch.h"
#include "tests/lowering_inputs.h"

namespace plumbline::secondary_shards_test {
namespace {

/// 12 bytes to gather over the shard group, 8 over the secondary one; shards of 40 bytes.
LoweringInput with_secondary(LoweringInput input) {
  for (RankSizes& rank : input.ranks) {
    rank.secondary_shards = Bytes(40);
    for (SegmentSizes& segment : rank.chunks[0].segments) {
      segment.gather = Bytes(12);
      segment.gather_backward = Bytes(8);
    }
  }
  return input;
}

bool is_secondary(const RankProgram& rank, const BufferUse& use) {
  return rank.buffers[static_cast<std::size_t>(use.buffer)].bytes == Bytes(40);
}

/// Actions that make room for the shards and give it back, with a sign for each.
std::vector<std::string> lives(const RankProgram& rank) {
  std::vector<std::string> found;
  for (const Action& action : rank.actions)
    for (const BufferUse& use : uses_of(action, rank)) {
      if (!is_secondary(rank, use)) continue;
      if (use.access == Access::allocate) found.push_back("+ " + to_text(action));
      if (use.access == Access::release) found.push_back("- " + to_text(action));
    }
  return found;
}

TEST_CASE("backwards gather over the secondary group, forwards over the shard group") {
  const Program program = lower(with_secondary(one_rank(3, 2)));
  const RankProgram& rank = program.ranks[0];
  int gathers = 0;
  for (const Action& action : rank.actions) {
    const auto* gather = std::get_if<ParameterGather>(&action.what);
    if (gather == nullptr) continue;
    ++gathers;
    const bool is_forward = gather->direction == Direction::forward;
    CHECK(gather->axis == (is_forward ? Axis::shard : Axis::secondary_shard));
    CHECK(gather->bytes == Bytes(is_forward ? 12 : 8));
    const std::span<const BufferUse> uses = uses_of(action, rank);
    const bool reads = std::any_of(uses.begin(), uses.end(), [&](const BufferUse& use) {
      return is_secondary(rank, use) && use.access == Access::read;
    });
    CHECK(reads == !is_forward);
  }
  CHECK(gathers == 2 * 2 * 2);
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

TEST_CASE("without secondary shards every pass gathers over the shard group") {
  LoweringInput input = with_secondary(one_rank(3, 1));
  input.ranks[0].secondary_shards = Bytes(0);
  for (const Action& action : lower(input).ranks[0].actions)
    if (const auto* gather = std::get_if<ParameterGather>(&action.what)) {
      CHECK(gather->axis == Axis::shard);
      CHECK(gather->bytes == Bytes(12));
    }
}

// Of 1F1B over two ranks the first always has a forward ahead of its backwards; the last runs them in turn.
TEST_CASE("secondary shards live while a micro-batch waits for its backward") {
  const Program program = lower(with_secondary(two_ranks(3, 3)));
  CHECK(lives(program.ranks[0]) == std::vector<std::string>{"+ forward 0 of chunk 0", "- backward 2 of chunk 0"});
  CHECK(lives(program.ranks[1]) == std::vector<std::string>{"+ forward 0 of chunk 0", "- backward 0 of chunk 0",
                                                            "+ forward 1 of chunk 0", "- backward 1 of chunk 0",
                                                            "+ forward 2 of chunk 0", "- backward 2 of chunk 0"});
  CHECK_FALSE(buffer_fault(program));
}

// One micro-batch of two segments: from the first forward to the last backward.
TEST_CASE("secondary shards of several segments are one buffer") {
  const Program program = lower(with_secondary(one_rank(3, 1)));
  CHECK(lives(program.ranks[0]) == std::vector<std::string>{"+ forward 0 of chunk 0", "- backward 0 of chunk 0"});
}

// Split backwards give them back when the weight gradients are made.
TEST_CASE("secondary shards stay until weight gradients are made") {
  LoweringInput input = with_secondary(two_ranks(3, 2));
  input.schedule = compute_schedule(Schedule::zb_h1, {2, 1, 2});
  const Program program = lower(input);
  for (const RankProgram& rank : program.ranks) {
    const std::vector<std::string> found = lives(rank);
    REQUIRE(found.size() >= 2);
    CHECK(found.front() == "+ forward 0 of chunk 0");
    CHECK(found.back() == "- backward-weight 1 of chunk 0");
  }
  CHECK_FALSE(buffer_fault(program));
  CHECK_FALSE(dry_run(program));
}

}  // namespace
}  // namespace plumbline::secondary_shards_test
