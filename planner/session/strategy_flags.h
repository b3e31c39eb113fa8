#pragma once
/// \file strategy_flags.h: a strategy as the texts of its flags, read and refused in the same words by whoever asks.
///
/// Checked against: tests/unit/planner/session/plan_flags_test.cpp.

#include <optional>
#include <string>

#include "planner/question/question.h"

namespace plumbline::session {

/// As they were given; what is absent is 1, off or follows from the question.
struct StrategyFlags {
  std::optional<std::string> tp, pp, dp, cp, ep, etp, virtual_stages, zero, shard_group, schedule, micro_batch,
      recompute, split, layers_per_stage, sequence_parallel, flash_attention, prefetch, layers_per_unit,
      context_communication;

  /// Throws InputError naming the flag.
  [[nodiscard]] PartialStrategy strategy() const;
  /// A flag that was given; empty: none was.
  [[nodiscard]] std::string given() const;
  /// The same of those that launch files always say: not whether attention is fused.
  [[nodiscard]] std::string given_with_import() const;
};

}  // namespace plumbline::session
