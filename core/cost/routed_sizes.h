#pragma once
/// \file routed_sizes.h: what a program holds and sends when experts get the rows that they were routed.
///
/// Answers bytes of one rank, given which rows left it for other ranks' experts and which came for its own. Model:
/// sizes of a program are those of balance, in which as many rows come as leave; tensors of routed rows, the
/// collectives that carry them, and the copies of what is offloaded of them, follow the rows instead. Each micro-batch
/// has rows of its own, and so its own working set. Source: core/sharding/shard.h (extra_rows), working_set.h. Checked
/// against: tests/runtime/execution/experts_test.cpp: bytes that learned routing binds and sends, exact;
/// tests/unit/planner/compare/compare_test.cpp: bytes that are copied to the host, by hand.

#include "core/graph/graph.h"
#include "core/program/lower.h"
#include "core/program/routed_rows.h"
#include "core/sharding/keep_rule.h"

namespace plumbline {

/// What was lowered in balance; segments are single executions of blocks.
struct BalancedPlan {
  const Graph& graph;
  const Shard& shard;
  const std::vector<Replay>& replays;  ///< by execution
  const LoweringInput& sizes;
};

/// The program of a rank of `stage`, its buffers as large as its rows make them.
[[nodiscard]] RankProgram routed_program(const BalancedPlan& plan, std::int32_t stage, const RoutedStep& rows);
/// What it sends in each step to exchange rows of experts. `rows`: over `steps` steps. A record of a run divides the
/// bytes of each kind of collective by its steps, rounding down, and so does this.
[[nodiscard]] Bytes exchanged_bytes(const BalancedPlan& plan, const RoutedStep& rows, std::int64_t steps);
/// What it copies to the host and back in each step. `program`: that of the stage in balance; `rows` and rounding: as
/// above.
[[nodiscard]] Bytes copied_bytes(const BalancedPlan& plan, std::int32_t stage, const RankProgram& program,
                                 const RoutedStep& rows, std::int64_t steps);

}  // namespace plumbline
