#include "core/simulate/trace.h"

namespace plumbline {
namespace {

void add_slices(const RankProgram& rank, std::int32_t index, const std::vector<Span>& spans, Trace& trace) {
  for (std::size_t i = 0; i < rank.actions.size(); ++i) {
    const Action& action = rank.actions[i];
    if (spans[i].length() == Picoseconds(0)) continue;
    trace.slices.push_back({index, action.stream, to_text(action), std::string(to_text(action.kind)), spans[i],
                            action.micro_batch, action.bytes});
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

Trace trace(const Program& program, const Simulation& simulation) {
  Trace trace;
  trace.ranks = program.shape.pipeline_stages;
  for (std::int32_t rank = 0; rank < trace.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    add_slices(program.ranks[r], rank, simulation.timeline.of_rank[r], trace);
    add_counters(program.ranks[r], rank, simulation.timeline.of_rank[r], trace);
  }
  return trace;
}

}  // namespace plumbline
