#pragma once
/// \file piece_runs.h: where in a list the actions of one piece and pass stand.
///
/// Answers: indices. Model: actions in order of one piece stand together; what runs beside them is looked through.
/// Source and limits: see lower.h. Checked against: tests/unit/core/program/lower_test.cpp.

#include "core/program/passes.h"

namespace plumbline::passes {

struct PieceRun {
  std::size_t compute = 0;  ///< the first compute action
  std::size_t beside = 0;   ///< the last action issued with it, or itself
  std::size_t last = 0;     ///< at least `beside`
};

/// Runs that compute, first to last.
[[nodiscard]] std::vector<PieceRun> piece_runs(const Actions& actions);

}  // namespace plumbline::passes
