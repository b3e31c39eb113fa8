#include "core/program/segment_runs.h"

#include <optional>

#include "core/program/action_kinds.h"

namespace plumbline::passes {

std::vector<SegmentRun> segment_runs(const Actions& actions, std::size_t first) {
  std::vector<SegmentRun> runs;
  std::optional<std::size_t> before;  // in order
  bool has_computed = false;          // in the run at hand
  for (std::size_t i = first; i < actions.size(); ++i) {
    const Action& action = actions[i];
    if (action.issue != Issue::in_order) {
      if (has_computed && runs.back().overlapped + 1 == i && action.issue == Issue::with_last)
        runs.back().overlapped = runs.back().last = i;
      continue;
    }
    if (!before || segment_of(actions[*before]) != segment_of(action)) has_computed = false;
    before = i;
    if (action.segment() < 0) continue;
    if (!has_computed && computes(action)) {
      runs.push_back({i, i, i});
      has_computed = true;
    }
    if (has_computed) runs.back().last = i;
  }
  return runs;
}

}  // namespace plumbline::passes
