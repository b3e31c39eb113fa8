// Small arenas by hand, and against the best of all orders of placing.

#include "runtime/memory_plan/memory_plan.h"

#include <numeric>
#include <random>

#include "core/program/lower.h"
#include "core/simulate/memory_curve.h"
#include "tests/catch.h"
#include "tests/memory_plan_overlap.h"
#include "tests/program_lives.h"

namespace plumbline {
namespace {

BufferLife life(std::int32_t first, std::int32_t last, std::int64_t bytes) {
  return {0, first, last, Bytes(bytes), Bytes(0)};
}

// 4 bytes live at actions 0 to 1, 4 others at 2 to 3, 2 throughout: the two share a place, 6 bytes in all.
TEST_CASE("Lives that follow each other share a place") {
  std::vector<BufferLife> lives{life(0, 1, 4), life(2, 3, 4), life(0, 3, 2)};
  CHECK(place_lives(lives, Bytes(1)) == Bytes(6));
  CHECK(lives[0].offset == lives[1].offset);
  CHECK_FALSE(has_overlap(lives, Bytes(6)));
}

TEST_CASE("A life that ends with an action and one that begins with it need two places") {
  std::vector<BufferLife> lives{life(0, 1, 4), life(1, 2, 4)};
  CHECK(place_lives(lives, Bytes(1)) == Bytes(8));
}

// Very many lives are placed in order of time alone: here 5000 that follow each other, two at a time.
TEST_CASE("Very many lives are placed in bounded work") {
  std::vector<BufferLife> lives;
  for (std::int32_t i = 0; i < 5000; ++i) lives.push_back(life(i, i + 1, 1 + i % 2));
  const Bytes size = place_lives(lives, Bytes(1));
  CHECK(size == Bytes(3));
  CHECK_FALSE(has_overlap(lives, size));
}

// Rounded up to 8: 3 bytes at 0, 5 bytes at 8, and an arena of 16.
TEST_CASE("Offsets and the arena's size are aligned") {
  std::vector<BufferLife> lives{life(0, 1, 3), life(0, 1, 5)};
  CHECK(place_lives(lives, Bytes(8)) == Bytes(16));
  CHECK(lives[0].offset == Bytes(0));
  CHECK(lives[1].offset == Bytes(8));
}

TEST_CASE("Nothing needs nothing, and empty buffers have a place") {
  std::vector<BufferLife> none;
  CHECK(place_lives(none, Bytes(256)) == Bytes(0));
  std::vector<BufferLife> empty{life(0, 1, 0), life(0, 1, 0)};
  CHECK(place_lives(empty, Bytes(256)) == Bytes(0));
}

/// The smallest arena: some order of placing each life as low as it goes reaches it.
std::int64_t smallest_arena(const std::vector<BufferLife>& lives) {
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t best = Bytes::largest().value();
  do {
    std::vector<BufferLife> placed;
    std::int64_t size = 0;
    for (const std::size_t i : order) {
      BufferLife next = lives[i];
      for (next.offset = Bytes(0);; next.offset += Bytes(1)) {
        placed.push_back(next);
        if (!has_overlap(placed, Bytes(1000))) break;
        placed.pop_back();
      }
      size = std::max(size, (next.offset + next.bytes).value());
    }
    best = std::min(best, size);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST_CASE("Arenas of random lives never overlap and are near the smallest") {
  std::mt19937 random(11);
  int exact = 0;
  double worst = 1;
  constexpr int cases = 150;
  for (int n = 0; n < cases; ++n) {
    std::vector<BufferLife> lives;
    for (int i = 0; i < 6; ++i) {
      const auto first = static_cast<std::int32_t>(random() % 8);
      lives.push_back(
          life(first, first + static_cast<std::int32_t>(random() % 4), 1 + static_cast<std::int64_t>(random() % 6)));
    }
    const std::int64_t best = smallest_arena(lives);
    const Bytes size = place_lives(lives, Bytes(1));
    REQUIRE_FALSE(has_overlap(lives, size));
    REQUIRE(size.value() >= best);
    exact += size.value() == best ? 1 : 0;
    worst = std::max(worst, static_cast<double>(size.value()) / static_cast<double>(best));
  }
  WARN("smallest arena found in " << exact << " of " << cases << " cases, worst ratio " << worst);
  CHECK(exact >= cases * 9 / 10);
}

// The first of two ranks, one segment, two micro-batches: saved tensors of 100 of both micro-batches live at once under
// GPipe, working sets of 10 (forward) and 30 (backward) one at a time; weights of 1000 throughout.
TEST_CASE("A lowered program's lives are those of its memory curve") {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::gpipe, {2, 1, 2});
  SegmentSizes segment;
  segment.executions = {0, 1};
  segment.memory.saved = Bytes(100);
  segment.memory.working.forward = Bytes(10);
  segment.memory.working.backward = Bytes(30);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};  // 4 bytes travel; nobody keeps a buffer for them here
  rank.persistent = {{MemoryClass::weights, Bytes(1000)}};
  input.ranks = {rank, rank};
  const Program program = lower(input);
  std::map<MemoryClass, Bytes> sizes;
  LivesByClass by_class = program_lives(program.ranks[0]);
  for (auto& [memory_class, lives] : by_class) {
    const Bytes peak = live_peak(lives);
    CHECK((sizes[memory_class] = place_lives(lives, Bytes(1))) == peak);
  }
  CHECK(sizes == std::map<MemoryClass, Bytes>{{MemoryClass::weights, Bytes(1000)},
                                              {MemoryClass::activations, Bytes(200)},
                                              {MemoryClass::working_buffers, Bytes(30)}});
}

}  // namespace
}  // namespace plumbline
