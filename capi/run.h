#pragma once
/// \file run.h: `plan run` of a plan on ranks that are threads of this process, as a use-case.
///
/// Model: flags, defaults, refusals and record are the command's (runtime/run/flags, trainer.h). Each step is reported;
/// a stop ends the run behind a step, as a signal ends the command's, with the record so far. What the ranks read is
/// kept by their threads: one that hangs outlives the call, and nothing that it reads. One run at a time in a process.
/// Not here: processes of a launcher and GPUs, which are refused; files, which are made of the record.
/// Checked against: tests/python/run_test.py.

#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

[[nodiscard]] session::UseCase run_use_case();

}  // namespace plumbline::capi
