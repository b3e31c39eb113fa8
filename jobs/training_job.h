#pragma once
/// \file training_job.h: what the runtime is given to train a prepared plan: its job, the options of its run, and what
/// is reported of its steps.
///
/// Model: the plan as the planner prepared it (session::PreparedRun), what nobody predicts from the flags of a run and
/// the plan's recipe. Not modelled: as what and on what ranks run, and who hears of them (RunOptions::ranks, ::device,
/// ::observer), which the caller adds.
/// Checked against: tests/unit/jobs/run_in_process_threads_test.cpp, tests/python/run_test.py (the command, and
/// Python).

#include "planner/session/compare/prepare_run.h"
#include "runtime/run/flags/training_flags.h"
#include "runtime/run/recipe.h"
#include "runtime/run/run_options.h"
#include "runtime/run/step_report.h"
#include "runtime/run/trainer.h"

namespace plumbline::jobs {

/// Refers to `prepared`. Throws InputError that names the flag.
[[nodiscard]] TrainingJob training_job(const session::PreparedRun& prepared, const TrainingFlags& flags,
                                       const Recipe& recipe);

/// With the data, which are read, and what the plan predicts of its ranks' memory. Throws InputError that names the
/// flag, or the file; ReadingStopped.
[[nodiscard]] RunOptions run_options(const session::PreparedRun& prepared, const TrainingFlags& flags,
                                     const StopReading& stop);

/// May time a product first (run_speed.h).
[[nodiscard]] RunSpeed run_speed_of(const session::PricedQuestion& asked);

/// What a StepReport of the run begins with. Throws ReadingStopped.
[[nodiscard]] ReportedRun reported_run(const session::PreparedRun& prepared, const TrainingFlags& flags,
                                       const RunOptions& options, const RunSpeed& speed, const StopReading& stop);

}  // namespace plumbline::jobs
