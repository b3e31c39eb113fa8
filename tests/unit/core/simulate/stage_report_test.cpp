// What each stage did and held, worked by hand on two ranks.

#include "core/simulate/stage_report.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two ranks under GPipe with two micro-batches: saved 100 bytes each, 10 and 30 of working set, states of 1000.
Program two_ranks() {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::gpipe, {2, 1, 2});
  SegmentSizes segment;
  segment.memory.saved = Bytes(100);
  segment.memory.working.forward = Bytes(10);
  segment.memory.working.backward = Bytes(30);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};
  rank.persistent = {{MemoryClass::weights, Bytes(1000)}};
  rank.reduction = Bytes(8);
  input.ranks = {rank, rank};
  return lower(input);
}

/// Forward 10, backward 20, reductions 3, optimizer 5.
ActionTimes times_of(const Program& program) {
  ActionTimes times{{}, Picoseconds(7)};
  for (const RankProgram& rank : program.ranks) {
    std::vector<Picoseconds>& row = times.of_rank.emplace_back();
    for (const Action& action : rank.actions) {
      std::int64_t time = 0;
      if (action.kind() == ActionKind::forward) time = 10;
      if (action.kind() == ActionKind::backward) time = 20;
      if (action.kind() == ActionKind::reduce_gradients) time = 3;
      if (action.kind() == ActionKind::optimizer_step) time = 5;
      row.push_back(Picoseconds(time));
    }
  }
  return times;
}

// Rank 0: F0 0-10, F1 10-20, then it waits for B0 of rank 1 (30-50): its B0 starts at 50 and holds both activations.
TEST_CASE("a stage's peak has its instant, its action and what is alive, largest first") {
  const Program program = two_ranks();
  const Simulation s = simulate(program, times_of(program), 0.1);
  const std::vector<StageReport> reports = stage_reports(program, s);
  CHECK(reports[0].peak_at == Picoseconds(50));
  CHECK(reports[0].peak_action.starts_with("backward "));
  REQUIRE(reports[0].alive.size() == 4);
  CHECK(reports[0].alive[0].bytes == Bytes(1000));
  CHECK(reports[0].alive[1].bytes == Bytes(100));
  CHECK(reports[0].alive[2].bytes == Bytes(100));
  CHECK(reports[0].alive[3].bytes == Bytes(30));
  CHECK(reports[0].alive[3].memory_class == MemoryClass::working_buffers);
}

TEST_CASE("what is alive at the peak sums to the peak without what the allocator loses") {
  const Program program = two_ranks();
  const Simulation s = simulate(program, times_of(program), 0.1);
  const std::vector<StageReport> reports = stage_reports(program, s);
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    Bytes alive(0);
    for (const Buffer& buffer : reports[rank].alive) alive += buffer.bytes;
    CHECK(alive == s.memory[rank].memory.device_total() - s.memory[rank].memory[MemoryClass::fragmentation]);
  }
}

// 2 x (10 + 20) of compute, 3 of reduction, 5 of optimizer; the rest of the step is idle or overhead.
TEST_CASE("a stage's busy time by cause, idle time and the overhead sum to the step") {
  const Program program = two_ranks();
  const ActionTimes times = times_of(program);
  const Simulation s = simulate(program, times, 0);
  const std::vector<StageReport> reports = stage_reports(program, s);
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    CHECK(reports[rank].busy[TimeCause::compute] == Picoseconds(60));
    CHECK(reports[rank].busy[TimeCause::data_parallel] == Picoseconds(3));
    CHECK(reports[rank].busy[TimeCause::optimizer] == Picoseconds(5));
    CHECK(reports[rank].busy.total() + s.idle[rank] + times.overhead == s.step());
  }
}

TEST_CASE("buffers that differ in their micro-batch are one family, the largest total first") {
  const Program program = two_ranks();
  const Simulation s = simulate(program, times_of(program), 0);
  const std::vector<BufferFamily> all = families(stage_reports(program, s)[0].alive);
  REQUIRE(all.size() == 3);
  CHECK(all[0].total == Bytes(1000));
  CHECK(all[0].micro_batches.empty());
  CHECK(all[1].total == Bytes(200));
  CHECK(all[1].buffers == 2);
  CHECK(all[1].micro_batches == std::vector<std::int32_t>{0, 1});
  CHECK(all[2].total == Bytes(30));
}

}  // namespace
}  // namespace plumbline
