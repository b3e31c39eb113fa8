#pragma once
/// \file device_memory.h: what a plan predicts of a device's memory beside what its run took, part by part.
///
/// Answers: lines of bytes; nothing for records of devices without memory of their own. Model: the plan's prediction of
/// each stage, at its peak, divided as a record divides (core/measurement/device_memory.h): context, workspaces of
/// matrix products and buffers of communicators are the stack's, and all else lies in the arena. Of a stage's ranks the
/// one whose total differs most stands for them. Source: core/cost/stage_memory.h. Not modelled: kernels that are
/// loaded later and what is neither tensor nor scratch, which no plan predicts. Checked against:
/// tests/unit/planner/compare/device_memory_test.cpp.

#include <string>
#include <vector>

#include "core/cost/calibration.h"
#include "core/measurement/run_record.h"
#include "core/plan/plan.h"

namespace plumbline {

struct DeviceLine {
  std::int32_t stage = 0;
  std::string part;  ///< DevicePart, or "total"
  Bytes predicted{0};
  Bytes measured{0};
  [[nodiscard]] bool is_predicted() const { return predicted.value() > 0 || measured.value() == 0; }
};

/// What each rank is predicted to take and no tensor has: context, workspaces, communicators. None for records without
/// parts of a device, whose tensors are all that they have.
[[nodiscard]] MemoryBreakdown apart_from_tensors(const Strategy& strategy, const StackCalibration& stack,
                                                 const RunRecord& record);
[[nodiscard]] std::vector<DeviceLine> device_lines(const Plan& plan, const StackCalibration& stack,
                                                   const RunRecord& record);

}  // namespace plumbline
