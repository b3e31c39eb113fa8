#pragma once
/// \file run_in_process.h: `plan run` on CPU ranks that are threads of this process, as a value in and a value out:
/// what Python and the window call.
///
/// Model: the plan is prepared, its data are read and it is trained; a stop ends the run behind its step, as Ctrl-C
/// does, and it is recorded up to there. One run at a time in a process. Where a rank hangs, its thread keeps what it
/// reads and hears no more of the task, and no other run begins until it ends.
/// Not modelled: processes of a launcher, GPUs, files that are written of a record (the command's, cli/run).
/// Checked against: tests/unit/jobs/run_in_process_threads_test.cpp, tests/python/run_test.py.

#include <optional>
#include <string>

#include "core/measurement/run_record.h"
#include "core/plan/estimate.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"
#include "runtime/run/flags/training_flags.h"
#include "runtime/run/recipe.h"
#include "runtime/run/run_options.h"

namespace plumbline::jobs {

/// What is asked for, its flags read.
struct AskedRun {
  session::PlanRequest request;
  Recipe recipe;  ///< of the plan
  TrainingFlags training;
  LaneThreads lanes = LaneThreads::none;
};

/// Flags that are not given follow the plan's recipe. `training`: behind TrainingFlags::continue_training. Throws
/// InputError for the recipe.
[[nodiscard]] AskedRun asked_run(session::PlanRequest request, TrainingFlags training,
                                 LaneThreads lanes = LaneThreads::none);

struct FinishedRun {
  RunRecord record;  ///< signed
  Prediction prediction;
  std::string early_stop = {};  ///< that it ended before its last step for want of improvement, as a sentence; or empty
  bool is_stopped = false;      ///< by the task
};

/// Nothing where it was stopped before its first step. Task::step is called on a rank's thread, one call after another,
/// and no more once this has come back. Throws InputError before any step, RunFailure and InternalError (trainer.h).
[[nodiscard]] std::optional<FinishedRun> run_in_process(const AskedRun& asked, const Task& task);

/// Whether a run of this process has not ended; with none under way: a rank of one hangs.
[[nodiscard]] bool is_running();

}  // namespace plumbline::jobs
