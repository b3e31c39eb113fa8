#pragma once
/// \file strategy_changes.h: what differs between two strategies, choice by choice.
///
/// A difference *follows* where the other choices leave nothing else: data parallelism is what the degrees leave, one
/// rank shards nothing, one stage has no schedule, a first pipeline needs one, and layers split by hand are those of a
/// number of chunks. What follows is shown and not counted.
/// Checked against: tests/unit/planner/explain/strategy_changes_test.cpp.

#include <string>
#include <vector>

#include "core/plan/strategy.h"

namespace plumbline {

struct StrategyChange {
  std::string choice;  ///< "tp", "micro-batch", "recompute", ...
  std::string before, after;
  bool follows = false;  ///< from the other changes
};

/// In the order of the flags. Micro-batches are left out: their number follows from their size.
[[nodiscard]] std::vector<StrategyChange> changes_between(const Strategy& before, const Strategy& after);
/// "tp 2 -> 4, recompute none -> full", with those that follow.
[[nodiscard]] std::string to_text(const std::vector<StrategyChange>& changes);
/// "tp 2 -> 4", "recompute none -> full": without those that follow.
[[nodiscard]] std::vector<std::string> chosen_steps(const std::vector<StrategyChange>& changes);

}  // namespace plumbline
