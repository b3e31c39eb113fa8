// Timelines and memory curves worked by hand.

#include "core/simulate/timeline.h"

#include "core/simulate/simulation.h"
#include "tests/catch.h"

namespace plumbline::timeline_test {
namespace {

/// Two ranks under 1F1B with two micro-batches; saved 100 bytes each, 10 and 30 of working set.
LoweringInput two_ranks() {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::one_f_one_b, {2, 1, 2});
  SegmentSizes segment;
  segment.memory.saved = Bytes(100);
  segment.memory.working.forward = Bytes(10);
  segment.memory.working.backward = Bytes(30);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};
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
      if (action.kind() == ActionKind::forward) time = 10;
      if (action.kind() == ActionKind::backward) time = 20;
      if (action.kind() == ActionKind::send_forward || action.kind() == ActionKind::send_backward) time = 1;
      if (action.kind() == ActionKind::optimizer_step) time = 5;
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

// ZB-H2, four micro-batches, F, B and W of 10 each, no latency: a rank works 120 without a gap, and rank 1 starts
// at 10. With a barrier the step lasts 130 + 5 + 3; without one, each rank starts the next step when it has ended its
// own.
TEST_CASE("With post-validation a step takes the longest that a rank takes from its own begin") {
  LoweringInput input = two_ranks();
  input.schedule = compute_schedule(Schedule::zb_h2, {2, 1, 4});
  const Program program = lower(input);
  ActionTimes times{{}, Picoseconds(3)};
  for (const RankProgram& rank : program.ranks) {
    times.of_rank.emplace_back();
    for (const Action& action : rank.actions) {
      const bool computes = action.stream() == Stream::compute && action.kind() != ActionKind::optimizer_step;
      times.of_rank.back().push_back(Picoseconds(computes ? 10 : action.kind() == ActionKind::optimizer_step ? 5 : 0));
    }
  }
  const Simulation waiting = simulate(program, times, 0);
  CHECK(waiting.timeline.micro_batches_end == Picoseconds(130));
  CHECK(waiting.step() == Picoseconds(138));
  CHECK(waiting.timeline.end == waiting.step());
  times.steps_early = true;
  const Simulation early = simulate(program, times, 0);
  CHECK(early.timeline.micro_batches_end == Picoseconds(120));
  CHECK(early.step() == Picoseconds(128));
  CHECK(early.timeline.end == Picoseconds(138));
  CHECK(early.time[TimeCause::pipeline_bubble] == Picoseconds(0));
  CHECK(early.time.total() == early.step());
  CHECK(early.idle == std::vector{Picoseconds(0), Picoseconds(0)});
}

// Rank 1 computes half as fast: F0 11-31, B0 31-71, F1 71-91, B1 91-131; B1 on rank 0 132-152; its optimizer takes 10.
TEST_CASE("A straggler holds up the others") {
  const Program program = lower(two_ranks());
  const Timeline simulated = timeline(program, times_of(program), {{1.0, 2.0}});
  CHECK(simulated.micro_batches_end == Picoseconds(152));
  CHECK(simulated.step == Picoseconds(152 + 10 + 3));
}

// Rank 0 holds both micro-batches when it runs the first backward: 1000 + 2 x 100 + 30, of which a tenth is lost.
TEST_CASE("The peak stands at the first backward, with what is alive there") {
  const Program program = lower(two_ranks());
  const MemoryPeak peak = memory_peak(program.ranks[0], 0.1);
  CHECK(peak.memory.live() == Bytes(1230));
  CHECK(peak.memory.device_total() == Bytes(1353));
  CHECK(program.ranks[0].actions[static_cast<std::size_t>(peak.action)].kind() == ActionKind::backward);
  CHECK(memory_peak(program.ranks[1], 0).memory.live() == Bytes(1130));
  CHECK(memory_curve(program.ranks[0]).back().memory.live() == Bytes(1000));
}

// Rank 0: F0 0-10, message 10-11, F1 11-21. Its second message waits until rank 1 has ended B0 at 41 and posts the
// gradient and the receive together: both 41-42. Then B0 42-62. Rank 1: F1 42-52, B1 52-72, message 72-73. B1 73-93.
TEST_CASE("A send that blocks holds up its rank until the receiver is there") {
  const Program program = lower(two_ranks());
  TimelineOptions options;
  options.sends = Sends::blocking;
  const Timeline simulated = timeline(program, times_of(program), options);
  REQUIRE_FALSE(simulated.stall);
  const std::vector<Action>& actions = program.ranks[0].actions;
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (actions[i].kind() == ActionKind::send_forward && actions[i].micro_batch == 1)
      CHECK(simulated.of_rank[0][i] == Span{Picoseconds(21), Picoseconds(42)});
  CHECK(simulated.micro_batches_end == Picoseconds(93));
}

/// One rank, forward 100 and backward 200, a pass gathers `bytes` in four units at a byte a picosecond.
struct Sharded {
  Program program;
  ActionTimes times;
  Sharded(std::int64_t bytes, double slowdown) {
    LoweringInput input;
    input.zero_stage = 3;
    input.schedule = compute_schedule(Schedule::none, {1, 1, 1});
    SegmentSizes segment;
    segment.units = 4;
    segment.gather = Bytes(bytes);
    RankSizes rank;
    rank.chunks = {{{segment}, Bytes(0)}};
    rank.gathered_parameters = Bytes(50);
    rank.gathered_gradients = Bytes(60);
    input.ranks = {rank};
    program = lower(input);
    times.overlap_slowdown = slowdown;
    times.of_rank.emplace_back();
    for (const Action& action : program.ranks[0].actions) {
      std::int64_t time = action.bytes().value();
      if (action.kind() == ActionKind::forward) time = 100;
      if (action.kind() == ActionKind::backward) time = 200;
      times.of_rank.back().push_back(Picoseconds(time));
    }
  }
};

// A unit of 10 first. Then 30 more alongside 100: both take half as long again, so 45, when 30 of the forward is done;
// 70 to go: 10 + 45 + 70 = 125. The same for the backward: 10 + 45 + 170 = 225.
TEST_CASE("What is gathered alongside compute slows it for as long as it lasts") {
  const Sharded sharded(40, 0.5);
  const Simulation s = simulate(sharded.program, sharded.times, 0);
  CHECK(s.timeline.micro_batches_end == Picoseconds(125 + 225));
  CHECK(s.time[TimeCause::compute] == Picoseconds(300));
  CHECK(s.time[TimeCause::data_parallel] == Picoseconds(10 + 15 + 10 + 15));
  CHECK(s.time[TimeCause::pipeline_bubble] == Picoseconds(0));
  CHECK(s.time.total() == s.step());
  CHECK(s.idle[0] == Picoseconds(0));
}

// A unit of 100 first, then 300 alongside 100: after 150 the forward is done, and 200 to go: 450. The backward: 100,
// after 300 it is done and 100 to go: 500.
TEST_CASE("What compute cannot hide goes on alone, and the rank waits for it") {
  const Sharded sharded(400, 0.5);
  const Simulation s = simulate(sharded.program, sharded.times, 0);
  CHECK(s.timeline.micro_batches_end == Picoseconds(450 + 500));
  CHECK(s.time[TimeCause::data_parallel] == Picoseconds(450 + 500 - 300));
  CHECK(s.time.total() == s.step());
}

// The forward takes 200 there: 10 + 45 + 170; the backward 400: 10 + 45 + 370. Slower compute is not data
// parallelism's.
TEST_CASE("A straggler's compute is slowed by what runs alongside it as well") {
  const Sharded sharded(40, 0.5);
  TimelineOptions options;
  options.slowdown = {2.0};
  const Simulation s = simulate(sharded.program, sharded.times, 0, options);
  CHECK(s.timeline.micro_batches_end == Picoseconds(225 + 425));
  CHECK(s.time[TimeCause::compute] == Picoseconds(600));
  CHECK(s.time.total() == s.step());
}

// Both start at 0 at half the rate. Rank 1 has its 20 after 40; then rank 0, which has 20 to go, has the link
// alone: 60.
TEST_CASE("Two groups share a link while both send") {
  LoweringInput input = two_ranks();
  input.zero_stage = 1;
  input.ranks[0].chunks[0].segments[0].update = Bytes(40);
  input.ranks[1].chunks[0].segments[0].update = Bytes(20);
  const Program program = lower(input);
  ActionTimes times = times_of(program);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    REQUIRE(program.ranks[rank].actions[0].kind() == ActionKind::all_gather_parameters);
    times.of_rank[rank][0] = Picoseconds(program.ranks[rank].actions[0].bytes().value());
  }
  const Timeline apart = timeline(program, times);
  CHECK(apart.of_rank[0][0].end == Picoseconds(40));
  CHECK(apart.of_rank[1][0].end == Picoseconds(20));
  StreamLinks links{};
  links.fill(-1);
  links[static_cast<std::size_t>(Stream::data)] = 0;
  times.links = {links, links};
  const Timeline shared = timeline(program, times);
  CHECK(shared.of_rank[0][0].end == Picoseconds(60));
  CHECK(shared.of_rank[1][0].end == Picoseconds(40));
  CHECK(shared.of_rank[0][1].start == Picoseconds(60));
}

// Rank 0 sends at 10 and at 20, 30 each over its link: the first message is there at 40, the second, which waits for
// it, at 70. Shares of the link would bring the first at 60 only.
TEST_CASE("Messages of a rank over a link follow each other") {
  const Program program = lower(two_ranks());
  ActionTimes times = times_of(program);
  std::vector<std::size_t> sends;
  for (std::size_t i = 0; i < program.ranks[0].actions.size(); ++i) {
    if (program.ranks[0].actions[i].kind() != ActionKind::send_forward) continue;
    times.of_rank[0][i] = Picoseconds(30);
    sends.push_back(i);
  }
  REQUIRE(sends.size() == 2);
  StreamLinks links{};
  links.fill(-1);
  links[static_cast<std::size_t>(Stream::pipeline)] = 0;  // with rank 1, whose first message comes later
  times.links = {links, links};
  const Timeline simulated = timeline(program, times);
  CHECK(simulated.of_rank[0][sends[0]] == Span{Picoseconds(10), Picoseconds(40)});
  CHECK(simulated.of_rank[0][sends[1]] == Span{Picoseconds(40), Picoseconds(70)});
}

/// One micro-batch of four segments; 60 of the first two's 100 bytes wait on the host.
LoweringInput offloaded_halves() {
  LoweringInput input = two_ranks();
  input.schedule = compute_schedule(Schedule::none, {1, 1, 1});
  input.ranks.pop_back();
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.resize(4, segments[0]);
  for (const std::size_t i : {0U, 1U}) segments[i].offloaded = Bytes(60);
  return input;
}

// Each forward adds 100 and 10 of working set, each backward 30. The first 60 are gone after the second forward, whose
// own are gone after the third; 60 come back before the backward of the third segment, 60 before that of the second.
TEST_CASE("Offloaded activations are on the device for their own segment and alongside one other") {
  const Program program = lower(offloaded_halves());
  std::vector<std::int64_t> live;
  for (const MemoryPoint& point : memory_curve(program.ranks[0])) live.push_back(point.memory.live().value() - 1000);
  CHECK(live == std::vector<std::int64_t>{0,   110, 100, 210, 200, 140, 250, 240, 180, 290, 280,
                                          310, 180, 240, 270, 140, 200, 230, 100, 130, 0});
  CHECK(memory_peak(program.ranks[0], 0).memory.live() == Bytes(1000 + 310));
}

/// Of copies that take so long each, when they run.
std::string copies_of(const Program& program, std::int64_t length, Simulation& simulation) {
  ActionTimes times = times_of(program);
  const std::vector<Action>& actions = program.ranks[0].actions;
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (actions[i].stream() == Stream::copy) times.of_rank[0][i] = Picoseconds(length);
  simulation = simulate(program, times, 0);
  std::string copies;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Span& span = simulation.timeline.of_rank[0][i];
    if (actions[i].stream() == Stream::copy)
      copies += std::string(to_text(actions[i].kind())) + " " + std::to_string(span.start.value()) + "-" +
                std::to_string(span.end.value()) + "; ";
  }
  return copies;
}

// F0 to F3 in 40, B3 to B0 in 80: copies of 7 hide. Of 15, the third forward waits from 20 to 25 for what left
// alongside the second, the fourth from 35 to 40; backwards are longer.
TEST_CASE("Copies run on a stream of their own, and what compute waits for them is offload's") {
  const Program program = lower(offloaded_halves());
  Simulation simulated;
  CHECK(copies_of(program, 7, simulated) == "offload 10-17; offload 20-27; fetch 60-67; fetch 80-87; ");
  CHECK(simulated.timeline.micro_batches_end == Picoseconds(120));
  CHECK(simulated.time[TimeCause::offload] == Picoseconds(0));
  CHECK(copies_of(program, 15, simulated) == "offload 10-25; offload 25-40; fetch 70-85; fetch 90-105; ");
  CHECK(simulated.timeline.micro_batches_end == Picoseconds(130));
  CHECK(simulated.time[TimeCause::offload] == Picoseconds(10));
  CHECK(simulated.time[TimeCause::compute] == Picoseconds(120));
  CHECK(simulated.idle[0] == Picoseconds(0));
}

}  // namespace
}  // namespace plumbline::timeline_test
