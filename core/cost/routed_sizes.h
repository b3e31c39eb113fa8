#pragma once
/// \file routed_sizes.h: what a program holds and sends when experts get the rows that they were routed.
///
/// Answers bytes of one rank, given which rows left it for other ranks' experts and which came for its own. Model:
/// sizes of a program are those of balance, in which as many rows come as leave; tensors of routed rows, and the
/// all-to-alls that carry them, follow the rows instead. Each micro-batch has rows of its own, and so its own working
/// set. Source: core/sharding/shard.h (extra_rows), working_set.h. Not modelled: experts that are divided themselves
/// (etp). Checked against: tests/runtime/execution/experts_test.cpp: bytes that learned routing binds and sends, exact.

#include <map>

#include "core/graph/graph.h"
#include "core/program/lower.h"
#include "core/sharding/keep_rule.h"

namespace plumbline {

struct RoutedRows {
  std::int64_t left = 0;
  std::int64_t came = 0;
};
/// By execution of the network and micro-batch.
using RoutedStep = std::map<std::pair<std::int32_t, std::int32_t>, RoutedRows>;

/// What was lowered in balance; segments are single executions of blocks.
struct BalancedPlan {
  const Graph& graph;
  const Shard& shard;
  const std::vector<Replay>& replays;  ///< by execution
  const LoweringInput& sizes;
};

/// The program of a rank of `stage`, its buffers as large as its rows make them.
[[nodiscard]] RankProgram routed_program(const BalancedPlan& plan, std::int32_t stage, const RoutedStep& rows);
/// What it sends to exchange rows of experts. Linear in `rows`: those of several steps give the bytes of all of them.
[[nodiscard]] Bytes exchanged_bytes(const BalancedPlan& plan, const RoutedStep& rows);

}  // namespace plumbline
