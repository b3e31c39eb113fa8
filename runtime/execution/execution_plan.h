#pragma once
/// \file execution_plan.h: what of a plan every rank of a run shares.
///
/// Not modelled: what a run adds (data, steps). Checked against: tests/runtime/execution.

#include "core/graph/graph.h"
#include "core/graph/operator_constants.h"
#include "core/program/block_program.h"
#include "core/program/program.h"
#include "runtime/execution/execution_probe.h"
#include "runtime/training/expert_routing.h"
#include "runtime/training/fp8_scaling.h"

namespace plumbline {

/// Pieces of the program are single executions of blocks, whose programs it has.
struct ExecutionPlan {
  const Graph& graph;
  const Strategy& strategy;
  const Training& training;
  const Program& program;
  const OperatorConstants& constants;
  ExpertRouting routing;
  Fp8Scaling fp8_scaling;
  ExecutionProbe& probe;

  /// 1 / tokens of the global batch; alongside it the loss scale (step_scalars.h).
  [[nodiscard]] float gradient_scale() const {
    return static_cast<float>(1.0 / static_cast<double>(training.global_batch * training.sequence_length));
  }
};

}  // namespace plumbline
