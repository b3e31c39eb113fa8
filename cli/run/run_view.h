#pragma once
/// \file run_view.h: what a run was, as text.

#include <string>

#include "core/measurement/run_record.h"
#include "core/plan/plan.h"
#include "runtime/run/step_report.h"

namespace plumbline {

/// Losses, speed, memory and the curve of a run that ended, and what it wrote.
[[nodiscard]] std::string run_text(const RunRecord& record, const Plan& plan, const RunSpeed& speed,
                                   TokenMeaning meaning);

}  // namespace plumbline
