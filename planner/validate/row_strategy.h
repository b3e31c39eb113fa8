#pragma once
/// \file row_strategy.h: machine, recipe and strategy of a row whose fields were completed by the rules.

#include "core/machine/cluster.h"
#include "core/measurement/row.h"
#include "core/training/training.h"
#include "planner/question/question.h"

namespace plumbline {

/// What follows from other fields by arithmetic alone: the batch from its factors, GPUs from the degrees.
[[nodiscard]] RowFields with_algebra(RowFields fields);
// Each throws InputError for a field that is missing or has no meaning here.
[[nodiscard]] Cluster cluster_of(const RowFields& fields);
[[nodiscard]] Training training_of(const RowFields& fields);
/// Without recompute where that is "least that fits": see resolve.cpp.
[[nodiscard]] PartialStrategy strategy_of(const RowFields& fields, const Graph& graph);

}  // namespace plumbline
