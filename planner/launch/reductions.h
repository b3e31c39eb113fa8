#pragma once
/// \file reductions.h: which executions' gradients are reduced together, in which order.
///
/// Answers: buckets per pipeline rank, as executions of the network. Model: what lowering makes of the strategy
/// (core/program/gradient_buckets.h), read from a program of few micro-batches, whose last pass is that of any number.
/// Not modelled: with split backwards, in which of its actions a bucket is sent (behind the last that fills it).
/// Checked against: tests/integration/launcher_test.py (what the runtime reduces).

#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/question/question.h"

namespace plumbline {

using Bucket = std::vector<std::int32_t>;

struct StageReductions {
  std::vector<Bucket> each;  ///< in the passes of a micro-batch that is not the last: ZeRO 2 and 3
  std::vector<Bucket> last;  ///< in the last pass of each chunk and behind it
};

/// By pipeline rank. `chunks`: the layers that they hold decide, whatever made the split.
[[nodiscard]] std::vector<StageReductions> stage_reductions(const Question& question, const Strategy& strategy,
                                                            const std::vector<Chunk>& chunks);

}  // namespace plumbline
