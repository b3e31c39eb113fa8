#pragma once
/// \file step_values.h: the scalars of a step in the device's memory: what it is given, and what it comes to.
///
/// Checked against: tests/runtime/execution.

#include "runtime/execution/rank_device.h"
#include "runtime/execution/step_inputs.h"
#include "runtime/execution/step_scalars.h"

namespace plumbline {

struct StepValues {
  StepValues(RankGroups& groups, RankDevice& device)
      : scalars(groups.everyone(), device.memory, device.lanes), inputs(device.memory, device.lanes) {}

  StepScalars scalars;
  StepInputs inputs;
};

}  // namespace plumbline
