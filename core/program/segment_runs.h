#pragma once
/// \file segment_runs.h: where in a list the actions of one segment and pass are.
///
/// Answers: indices. Model: actions in order of one segment are neighbours; what runs alongside them is looked through.
/// Source and limits: see lower.h. Checked against: tests/unit/core/program/lower_test.cpp.

#include "core/program/passes.h"

namespace plumbline::passes {

struct SegmentRun {
  std::size_t compute = 0;     ///< the first compute action
  std::size_t overlapped = 0;  ///< the last action issued with it, or itself
  std::size_t last = 0;        ///< at least `overlapped`
};

/// Runs that compute, first to last; of the actions from `first` on, where a run begins or none is.
[[nodiscard]] std::vector<SegmentRun> segment_runs(const Actions& actions, std::size_t first = 0);

}  // namespace plumbline::passes
