#pragma once
/// \file execution_plan.h: what of a plan every rank of a run shares.
///
/// Not modelled: what a run adds (data, steps). Checked against: tests/runtime/execution.

#include "core/graph/graph.h"
#include "core/program/block_program.h"
#include "core/program/program.h"
#include "runtime/execution/execution_probe.h"

namespace plumbline {

/// Pieces of the program are single executions of blocks.
struct ExecutionPlan {
  const Graph& graph;
  const Strategy& strategy;
  const Training& training;
  const Program& program;
  const std::vector<Replay>& replays;  ///< by execution
  ExecutionProbe& probe;
};

}  // namespace plumbline
