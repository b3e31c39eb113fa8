#pragma once
/// \file prepare_run.h: what `plan run` needs of a plan before anything is executed, as far as the planner knows it.
///
/// Answers: the plan priced anew, its program, the names that checkpoints and records bear, and whether this computer
/// has the memory. Not known here: which operators, schedules and optimizers the runtime executes (it refuses the
/// others itself), and where ranks are.
/// Checked against: tests/unit/planner/session/compare/prepare_run_test.cpp.

#include <optional>
#include <string>

#include "core/measurement/run_record.h"
#include "planner/pricing/simulated.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

struct PreparedRun {
  PricedQuestion asked;
  SimulatedPlan simulated;           ///< every micro-batch, in single executions of blocks
  std::string training_fingerprint;  ///< of plan and operator constants
  std::string network_fingerprint;   ///< of what is executed, whatever the plan
  std::string network_config;        ///< of Hugging Face, as JSON text; empty: there is none
};

/// Nothing where it was stopped first. Throws InputError where the plan was made for another network than its name
/// means now.
[[nodiscard]] std::optional<PreparedRun> prepare_run(const PlanRequest& request, const Task& task = {});

/// Of `ranks_here` on a computer with this memory; `plan_name` as in the request. Throws InputError for more ranks than
/// one computer runs, and for more memory than it has.
void require_room(const PreparedRun& run, const std::string& plan_name, std::int64_t ranks_here, Bytes memory);

/// Writes into a record what it is a record of: this program, the plan, its model and machine.
void sign(RunRecord& record, const Plan& plan);

}  // namespace plumbline::session
