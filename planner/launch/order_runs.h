#pragma once
/// \file order_runs.h: an order of compute actions, written short where it repeats itself.
///
/// Answers: runs of which each is a list of actions that is done `times` times, every time with micro-batches that are
/// `step` later. Model: from each action on, the list that repeats and covers most; an order of any length is read back
/// exactly (`expanded`). Not modelled: patterns inside of patterns.
/// Checked against: tests/unit/planner/launch/order_runs_test.cpp (every schedule, read back).

#include <cstdint>
#include <vector>

#include "core/program/action.h"

namespace plumbline {

struct OrderRun {
  RankOrder actions;  ///< as they are the first time
  std::int32_t times = 1;
  std::int32_t step = 0;  ///< micro-batches from one time to the next
  bool operator==(const OrderRun&) const = default;
};

/// `longest`: actions of a list that may repeat.
[[nodiscard]] std::vector<OrderRun> order_runs(const RankOrder& order, std::int32_t longest);
[[nodiscard]] RankOrder expanded(const std::vector<OrderRun>& runs);

}  // namespace plumbline
