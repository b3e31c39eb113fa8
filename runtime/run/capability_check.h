#pragma once
/// \file capability_check.h: what no rank could do, said before any work.
///
/// Answers: nothing, or an InputError that names the plan or the network, what of it is not executed, and what would
/// be. Model: first what the network's config asks for beyond its operators (OperatorConstants::not_executed), then
/// each operator of its graph, then what the strategy and the recipe combine. Source: docs/running.md, section "What of
/// a network is executed". Not modelled: memory, disk and the number of processes (trainer.cpp, cli/run.cpp). Checked
/// against: tests/error/capability_check_test.cpp.

#include "runtime/run/trainer.h"

namespace plumbline {

/// Throws InputError for a job that is not executed as it is described.
void check_capability(const TrainingJob& job, const RunOptions& options);

}  // namespace plumbline
