#pragma once
/// \file order_memo.h: orders of schedules that are dear to make, kept for those who ask again.
///
/// Answers: compute_schedule and dry_run of a schedule and shape; the same for every caller and thread.
/// Model: orders depend on no times, so a search asks for the same few over and over. The memo holds a bounded number
/// of actions (of all orders together), forgets the oldest first, and never hands out one that is being forgotten.
/// Source: none. Not modelled: orders that were read from a file.
/// Checked against: tests/unit/core/program/order_memo_threads_test.cpp.

#include <memory>

#include "core/program/dry_run.h"

namespace plumbline {

struct CheckedOrder {
  ComputeSchedule schedule;
  DryRun run;
};

/// For a shape that the schedule's legality rule allows. Callable from any thread.
[[nodiscard]] std::shared_ptr<const CheckedOrder> checked_order(Schedule schedule, const PipelineShape& shape);

}  // namespace plumbline
