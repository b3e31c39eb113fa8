#pragma once
/// \file run_strategy.h: machine, recipe and strategy of a run whose fields were completed by the rules.

#include "core/graph/sample_unit.h"
#include "core/machine/cluster.h"
#include "core/measurement/measured_run.h"
#include "core/training/training.h"
#include "planner/question/question.h"

namespace plumbline {

/// What follows from other fields by arithmetic alone: the batch from its factors, GPUs from the degrees.
[[nodiscard]] RunFields with_algebra(RunFields fields);
// Each throws InputError for a field that is missing or has no meaning here.
[[nodiscard]] Cluster cluster_of(const RunFields& fields);
/// `unit`: of the network; images need no length of a sequence.
[[nodiscard]] Training training_of(const RunFields& fields, SampleUnit unit);
/// Without recompute where that is "least that fits": see resolve.cpp.
[[nodiscard]] PartialStrategy strategy_of(const RunFields& fields, const Graph& graph);

}  // namespace plumbline
