#include "core/simulate/run_trace.h"

namespace plumbline {
namespace {

Picoseconds picoseconds(std::int64_t nanoseconds) { return Picoseconds(1000 * nanoseconds); }

}  // namespace

Trace trace(const RunRecord& record) {
  Trace trace;
  trace.ranks = static_cast<std::int32_t>(record.ranks.size());
  for (const RankRecord& rank : record.ranks) {
    trace.names.push_back("pipeline rank " + std::to_string(rank.stage) + ", measured on rank " +
                          std::to_string(rank.rank));
    for (const ActionRecord& action : rank.actions)
      if (action.end_ns > action.start_ns)
        trace.slices.push_back({rank.rank,
                                action.stream,
                                0,
                                action.name,
                                std::string(to_text(action.kind)),
                                {picoseconds(action.start_ns), picoseconds(action.end_ns)},
                                action.micro_batch,
                                action.sent});
  }
  part_crossing_slices(trace.slices);
  return trace;
}

}  // namespace plumbline
