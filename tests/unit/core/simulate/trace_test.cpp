// The trace of a small program: who has which thread, what is drawn, and that it is JSON.

#include "core/simulate/trace.h"

#include "core/io/json.h"
#include "core/io/trace_json.h"
#include "core/program/action_kinds.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two ranks, one micro-batch, every action a microsecond.
struct Small {
  Program program;
  Simulation simulation;
  Small() {
    LoweringInput input;
    input.schedule = compute_schedule(Schedule::one_f_one_b, {2, 1, 1});
    SegmentSizes segment;
    segment.memory.saved = Bytes(1 << 20);
    segment.forward.tensor = Bytes(7);
    RankSizes rank;
    rank.chunks = {{{segment}, Bytes(4)}};
    rank.persistent = {{MemoryClass::weights, Bytes(2 << 20)}};
    input.ranks = {rank, rank};
    program = lower(input);
    ActionTimes times;
    for (const RankProgram& lowered : program.ranks)
      times.of_rank.emplace_back(lowered.actions.size(), Picoseconds(1'000'000));
    simulation = simulate(program, times, 0);
  }
};

std::vector<const Json*> events_of(const Json& document, std::string_view phase) {
  std::vector<const Json*> found;
  for (const Json& event : *document.find("traceEvents")->if_array())
    if (*event.find("ph")->if_string() == phase) found.push_back(&event);
  return found;
}

TEST_CASE("a trace has a process per rank, a thread per stream in use, and a slice per action that takes time") {
  const Small small;
  const Json document = parse_json(trace_json_text(trace(small.program, small.simulation)), "trace");
  std::set<std::string> names;
  for (const Json* event : events_of(document, "M")) names.insert(*event->find("args")->find("name")->if_string());
  CHECK(names == std::set<std::string>{"pipeline rank 0", "pipeline rank 1", "compute", "tensor", "pipeline"});
  CHECK(std::ssize(events_of(document, "X")) == small.program.action_count());
  const Json& first = *events_of(document, "X").front();
  CHECK(*first.find("name")->if_string() == "forward 0 of chunk 0");
  CHECK(*first.find("ts")->if_double() == 0.0);
  CHECK(*first.find("dur")->if_double() == 1.0);
}

// One micro-batch crosses the one boundary forward and back: from the message's slice to the receive's, which here
// takes time too.
TEST_CASE("a flow leads from each message to what it was for") {
  const Small small;
  const Trace drawn = trace(small.program, small.simulation);
  REQUIRE(drawn.flows.size() == 2);
  const auto ends = [&](const TraceFlow& flow) {
    return drawn.slices[flow.from].name + " -> " + drawn.slices[flow.to].name;
  };
  CHECK(ends(drawn.flows[0]) == "send-backward 0 of chunk 0 -> receive-backward 0 of chunk 0");
  CHECK(ends(drawn.flows[1]) == "send-forward 0 of chunk 0 -> receive-forward 0 of chunk 0");
  CHECK(drawn.slices[drawn.flows[0].from].rank == 1);
  CHECK(drawn.slices[drawn.flows[0].to].rank == 0);
  const Json document = parse_json(trace_json_text(drawn), "trace");
  const Json& begin = *events_of(document, "s").front();
  const Json& end = *events_of(document, "f").front();
  CHECK(*begin.find("id")->if_integer() == *end.find("id")->if_integer());
  CHECK(*end.find("bp")->if_string() == "e");
}

// A rank sends forward 0 and forward 1 one picosecond apart, and each travels for ten microseconds.
TEST_CASE("messages that travel at one time lie on threads of their own") {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::gpipe, {2, 1, 2});
  RankSizes rank;
  rank.chunks = {{{SegmentSizes{}}, Bytes(4)}};
  input.ranks = {rank, rank};
  const Program program = lower(input);
  ActionTimes times;
  for (const RankProgram& lowered : program.ranks) {
    std::vector<Picoseconds>& row = times.of_rank.emplace_back();
    for (const Action& action : lowered.actions) {
      const StageMessage* message = message_of(action);
      const bool is_in_transit = message != nullptr && message->handover == Handover::in_transit;
      row.push_back(Picoseconds(is_in_transit ? 10'000'000 : 1'000));
    }
  }
  const Trace drawn = trace(program, simulate(program, times, 0));
  std::vector<std::int32_t> lanes;
  for (const TraceSlice& slice : drawn.slices)
    if (slice.kind == "send-forward") lanes.push_back(slice.lane);
  CHECK(lanes == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("memory is a counter by class in MiB, which ends where it began") {
  const Small small;
  const Json document = parse_json(trace_json_text(trace(small.program, small.simulation)), "trace");
  const std::vector<const Json*> counters = events_of(document, "C");
  REQUIRE(counters.size() == 6);  // before, with the activation, without it; on two ranks
  CHECK(*counters[1]->find("args")->find("activations")->if_double() == 1.0);
  CHECK(*counters[1]->find("args")->find("weights")->if_double() == 2.0);
  CHECK(counters[2]->find("args")->find("activations") == nullptr);
}

}  // namespace
}  // namespace plumbline
