#include "core/simulate/trace.h"

#include <algorithm>
#include <map>

#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

constexpr std::size_t no_slice = static_cast<std::size_t>(-1);
/// By rank and action: the slice that draws it.
using SliceOf = std::vector<std::vector<std::size_t>>;

void add_slices(const RankProgram& rank, std::int32_t index, const std::vector<Span>& spans, Trace& trace,
                SliceOf& slice_of) {
  std::vector<std::size_t>& slices = slice_of.emplace_back(rank.actions.size(), no_slice);
  for (std::size_t i = 0; i < rank.actions.size(); ++i) {
    const Action& action = rank.actions[i];
    if (spans[i].length() == Picoseconds(0)) continue;
    slices[i] = trace.slices.size();
    trace.slices.push_back({index, action.stream(), 0, to_text(action), std::string(to_text(action.kind())), spans[i],
                            action.micro_batch, action.bytes()});
  }
}

bool same_pass(const Action& a, const Action& b) {
  return a.pass() == b.pass() && a.chunk == b.chunk && a.micro_batch == b.micro_batch;
}

/// The slice of the action, or of the nearest one of its pass in a direction: a message that takes no time on its rank
/// is drawn from what made it, or to what it was for.
std::size_t nearest_slice(const std::vector<Action>& actions, const std::vector<std::size_t>& slices, std::int32_t at,
                          std::int32_t direction) {
  const Action& message = actions[static_cast<std::size_t>(at)];
  for (std::int32_t i = at; i >= 0 && i < std::ssize(actions); i += direction) {
    const auto index = static_cast<std::size_t>(i);
    if (actions[index].stream() == Stream::data) continue;  // alongside its passes
    if (!same_pass(actions[index], message)) return no_slice;
    if (slices[index] != no_slice) return slices[index];
  }
  return no_slice;
}

/// One slice for what was left out.
void add_gap(const Simulation& simulation, std::int32_t index, Trace& trace) {
  if (simulation.left_out.micro_batches == 0) return;
  trace.slices.push_back({index, Stream::compute, 0, to_text(simulation.left_out), "left-out",
                          gap(simulation.left_out, simulation.timeline, static_cast<std::size_t>(index)), -1,
                          Bytes(0)});
}

void add_flows(const Program& program, const LeftOut& left_out, const SliceOf& slice_of, Trace& trace) {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Action>& actions = program.ranks[rank].actions;
    for (std::int32_t i = 0; i < std::ssize(actions); ++i) {
      const StageMessage* received = received_by(actions[static_cast<std::size_t>(i)]);
      if (received == nullptr) continue;
      const auto peer = static_cast<std::size_t>(received->peer);
      // Who sent what is received behind the cut was left out.
      if (left_out.is_behind(rank, i) != left_out.is_behind(peer, received->peer_action)) continue;
      const std::size_t from = nearest_slice(program.ranks[peer].actions, slice_of[peer], received->peer_action, -1);
      const std::size_t to = nearest_slice(actions, slice_of[rank], i, 1);
      if (from != no_slice && to != no_slice) trace.flows.push_back({from, to});
    }
  }
}

void add_counters(const RankProgram& rank, std::int32_t index, const std::vector<Span>& spans, Trace& trace) {
  for (const MemoryPoint& point : memory_curve(rank)) {
    Picoseconds at(0);
    if (point.action >= 0) {
      const Span& span = spans[static_cast<std::size_t>(point.action)];
      at = point.moment == Moment::begin ? span.start : span.end;
    }
    trace.counters.push_back({index, at, point.memory});
  }
}

}  // namespace

// Messages that travel at one time lie on threads of their own: a thread's slices follow each other.
void part_crossing_slices(std::vector<TraceSlice>& slices) {
  std::vector<TraceSlice*> by_start;
  for (TraceSlice& slice : slices) by_start.push_back(&slice);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const TraceSlice* a, const TraceSlice* b) { return a->span.start < b->span.start; });
  std::map<std::pair<std::int32_t, Stream>, std::vector<Picoseconds>> ends;  // by lane
  for (TraceSlice* slice : by_start) {
    std::vector<Picoseconds>& lanes = ends[{slice->rank, slice->stream}];
    const auto free =
        std::find_if(lanes.begin(), lanes.end(), [&](Picoseconds end) { return end <= slice->span.start; });
    slice->lane = static_cast<std::int32_t>(free - lanes.begin());
    if (free == lanes.end()) lanes.push_back(slice->span.end);
    lanes[static_cast<std::size_t>(slice->lane)] = slice->span.end;
  }
}

Trace trace(const Program& program, const Simulation& simulation) {
  Trace trace;
  SliceOf slice_of;
  trace.ranks = program.shape.pipeline_stages;
  for (std::int32_t rank = 0; rank < trace.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    add_slices(program.ranks[r], rank, simulation.timeline.of_rank[r], trace, slice_of);
    add_gap(simulation, rank, trace);
    add_counters(program.ranks[r], rank, simulation.timeline.of_rank[r], trace);
  }
  part_crossing_slices(trace.slices);
  add_flows(program, simulation.left_out, slice_of, trace);
  return trace;
}

}  // namespace plumbline
