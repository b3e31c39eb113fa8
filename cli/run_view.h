#pragma once
/// \file run_view.h: a run while it goes on, and what it was, as text and as JSON.

#include <string>

#include "cli/terminal.h"
#include "core/io/json.h"
#include "core/measurement/run_record.h"
#include "core/plan/plan.h"

namespace plumbline {

/// "step 12 of 100, loss 3.214, 2 345 tokens/s, 310 MiB".
[[nodiscard]] std::string step_line(const StepRecord& step, std::int64_t last_step, double tokens_per_second);
/// A step as `run --json` prints it: its record and "tokens_per_s".
[[nodiscard]] Json step_line_json(const StepRecord& step, std::int64_t tokens);
/// Losses, speed, memory and the curve of a run that ended.
[[nodiscard]] std::string run_text(const RunRecord& record, const Plan& plan);

}  // namespace plumbline
