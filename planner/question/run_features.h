#pragma once
/// \file run_features.h: a question as calibrations look at it (core/cost/residuals.h).

#include "core/cost/residuals.h"
#include "core/graph/graph.h"
#include "core/machine/cluster.h"
#include "core/plan/legality.h"
#include "core/training/training.h"

namespace plumbline {

/// What follows from the question alone; the scales that a strategy decides are 0. Of a cluster with several kinds of
/// devices the slowest one counts, as in pricing; width is that of the widest layer's output.
[[nodiscard]] RunFeatures question_features(const Graph& graph, const Divisibility& facts, const Training& training,
                                            const Cluster& cluster);

}  // namespace plumbline
