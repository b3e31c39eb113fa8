#pragma once
/// \file memory_knobs.h: what a plan would hold with other choices: micro-batch, recompute, ZeRO, tensor parallelism.
///
/// Answers: the values that each slider has, and the plan at them. Data parallelism, micro-batches and the shard group
/// follow from the GPUs and the batch, as the command line fills them in. Pure; from any thread.
/// Checked against: tests/gui/pages/memory/memory_knobs_test.cpp (what `plan estimate` says of the same flags);
/// bench/gui/memory_answer_bench.cpp (16 384 GPUs).

#include <cstdint>
#include <vector>

#include "planner/session/estimate.h"

namespace plumbline::gui {

struct MemoryKnobs {
  std::int64_t micro_batch = 1;
  Recompute recompute;
  std::int32_t zero_stage = 0;
  std::int32_t tensor_parallel = 1;
  bool operator==(const MemoryKnobs&) const = default;
};
[[nodiscard]] MemoryKnobs knobs_of(const Strategy& strategy);

/// Ascending; the plan's own value is among them.
struct KnobChoices {
  std::vector<std::int64_t> micro_batches;
  std::vector<Recompute> recomputes;
  std::vector<std::int32_t> zero_stages;
  std::vector<std::int32_t> tensor_parallel;
};
[[nodiscard]] KnobChoices knob_choices(const session::PricedQuestion& asked);

/// Throws InputError where the values cannot go together, in the command line's words.
[[nodiscard]] Plan plan_at(const session::PricedQuestion& asked, const MemoryKnobs& knobs);

}  // namespace plumbline::gui
