#pragma once
/// \file priced.h: the tables between a question and a price: blocks of a strategy, layouts of a pipeline.

#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/question/question.h"

namespace plumbline {

/// One BlockCost per block of the question's graph.
[[nodiscard]] std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy);
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy);
/// The memory of every distinct rank content at the first rank that holds it, where most micro-batches are in flight.
[[nodiscard]] Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy);
/// What the ranks of one node need of its host's memory, whatever the strategy.
[[nodiscard]] Bytes host_memory_per_node(const Question& question);
[[nodiscard]] bool fits_host(const Question& question);

}  // namespace plumbline
