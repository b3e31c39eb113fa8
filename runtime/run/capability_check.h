#pragma once
/// \file capability_check.h: what no rank could do, said before any work.
///
/// Answers: nothing, or an InputError that names the plan or the network, what of it is not executed, and what would
/// be. Model: first the rules of core/plan/execution_rules.h on network, recipe and strategy, which a search applies
/// as well; then the rules on what a run adds to its plan: routing, data, learning rate, order of messages. Not
/// modelled: memory, disk and the number of processes (trainer.cpp, cli/run/run.cpp). Checked against:
/// tests/error/capability_check_test.cpp, tests/property/execution_rules_test.cpp.

#include "runtime/run/trainer.h"

namespace plumbline {

/// Throws InputError for a job that is not executed as it is described.
void check_capability(const TrainingJob& job, const RunOptions& options);

}  // namespace plumbline
