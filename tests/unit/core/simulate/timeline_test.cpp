// Timelines and memory curves worked by hand.

#include "core/simulate/timeline.h"

#include "core/simulate/simulation.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two ranks under 1F1B with two micro-batches; saved 100 bytes each, 10 and 30 of working set.
LoweringInput two_ranks() {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::one_f_one_b, {2, 1, 2});
  PieceSizes piece;
  piece.saved = Bytes(100);
  piece.working_forward = Bytes(10);
  piece.working_backward = Bytes(30);
  RankSizes rank;
  rank.chunks = {{{piece}, Bytes(4)}};
  rank.persistent = {{MemoryClass::weights, Bytes(1000)}};
  input.ranks = {rank, rank};
  return input;
}

/// Forward 10, backward 20, messages 1, optimizer 5, overhead 3.
ActionTimes times_of(const Program& program) {
  ActionTimes times{{}, Picoseconds(3)};
  for (const RankProgram& rank : program.ranks) {
    times.of_rank.emplace_back();
    for (const Action& action : rank.actions) {
      std::int64_t time = 0;
      if (action.kind == ActionKind::forward) time = 10;
      if (action.kind == ActionKind::backward) time = 20;
      if (action.kind == ActionKind::send_forward || action.kind == ActionKind::send_backward) time = 1;
      if (action.kind == ActionKind::optimizer_step) time = 5;
      times.of_rank.back().push_back(Picoseconds(time));
    }
  }
  return times;
}

// Rank 1: F0 11-21, B0 21-41, F1 41-51, B1 51-71. Rank 0: F0 0-10, F1 10-20, B0 42-62, B1 72-92. Then 5 and 3.
TEST_CASE("1F1B on two ranks with messages of one picosecond") {
  const Program program = lower(two_ranks());
  const Simulation s = simulate(program, times_of(program), 0.1);
  CHECK(s.timeline.micro_batches_end == Picoseconds(92));
  CHECK(s.step() == Picoseconds(100));
  CHECK(s.time[TimeCause::compute] == Picoseconds(60));
  CHECK(s.time[TimeCause::pipeline_bubble] == Picoseconds(32));
  CHECK(s.time[TimeCause::optimizer] == Picoseconds(5));
  CHECK(s.time.total() == s.step());
  CHECK(s.idle[0] == Picoseconds(32));
}

// Rank 1 computes half as fast: F0 11-31, B0 31-71, F1 71-91, B1 91-131; B1 on rank 0 132-152; its optimizer takes 10.
TEST_CASE("A straggler holds up the others") {
  const Program program = lower(two_ranks());
  const Timeline played = timeline(program, times_of(program), {{1.0, 2.0}});
  CHECK(played.micro_batches_end == Picoseconds(152));
  CHECK(played.step == Picoseconds(152 + 10 + 3));
}

// Rank 0 holds both micro-batches when it runs the first backward: 1000 + 2 x 100 + 30, of which a tenth is lost.
TEST_CASE("The peak stands at the first backward, with what is alive there") {
  const Program program = lower(two_ranks());
  const MemoryPeak peak = memory_peak(program.ranks[0], 0.1);
  CHECK(peak.memory.live() == Bytes(1230));
  CHECK(peak.memory.device_total() == Bytes(1353));
  CHECK(program.ranks[0].actions[static_cast<std::size_t>(peak.action)].kind == ActionKind::backward);
  CHECK(memory_peak(program.ranks[1], 0).memory.live() == Bytes(1130));
  CHECK(memory_curve(program.ranks[0]).back().memory.live() == Bytes(1000));
}

}  // namespace
}  // namespace plumbline
