#pragma once
/// \file kernel_parts.h: what the instructions of a rank's blocks are run with, by owner.
///
/// Checked against: tests/runtime/execution.

#include "runtime/execution/execution_plan.h"
#include "runtime/execution/local_logits.h"
#include "runtime/execution/parameter_store.h"
#include "runtime/execution/product_operands.h"
#include "runtime/execution/rank_batches.h"
#include "runtime/execution/rotary_tables.h"
#include "runtime/execution/step_values.h"

namespace plumbline {

/// What a rank makes of a program. `strict`: refuses what does not fit the program's buffers. `rehearsal`: nothing is
/// computed or sent (step_memory.h), and ranks get equal shares of routed rows.
enum class ExecutionMode : std::uint8_t { plain, strict, rehearsal };

/// What kernels find in the device's memory alongside tensors.
struct KernelTables {
  KernelTables(const ExecutionPlan& plan, RankDevice& device)
      : operands(device.memory, device.lanes.kernels(), plan.fp8_scaling),
        routes(device.memory),
        rotary(plan.constants.rotary, device.memory, device.lanes) {}

  ProductOperands operands;
  RouteTables routes;
  RotaryTables rotary;
};

/// Of the step at hand.
struct ForwardPass {
  LogitsVisit on_logits;       ///< empty: nobody looks
  bool is_evaluating = false;  ///< a forward without a backward: nothing is dropped
};

/// References alone: each part belongs to the rank or its executor.
struct KernelParts {
  const ExecutionPlan& plan;
  ExecutionMode mode;
  const RankShare& share;
  RankDevice& device;
  ParameterStore& parameters;
  StepValues& values;
  KernelTables& tables;
  const RankBatches& batches;
  const ForwardPass& pass;
};

}  // namespace plumbline
