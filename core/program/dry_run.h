#pragma once
/// \file dry_run.h: whether an order runs to its end, and one sequence of all ranks' actions that does it.
///
/// Answers: every action after what it waits for; or the cycle of ranks that wait for each other for ever.
/// Model: a rank runs its actions one after another; a forward waits for the forward of the stage before, a backward
/// (or input gradient) for that of the stage behind and on the last stage for its forward, a weight gradient for its
/// input gradient. Sends never wait for their receivers.
/// Source: the dependencies of pipeline schedules as in arXiv:2401.10241 section 3.
/// Not modelled: blocking sends, whose order may add cycles; a full backward hands its input gradient on at its end.
/// Checked against: tests/property/order_makespan_test.cpp (Boost's strongly connected components on random orders).

#include <optional>
#include <string>

#include "core/program/compute_schedule.h"

namespace plumbline {

/// A place in a rank's order.
struct ActionPlace {
  std::int32_t rank = 0;
  std::int32_t position = 0;
  bool operator==(const ActionPlace&) const = default;
};

/// `waiting` is the next action of its rank; it needs `needed`, which its own rank has not run.
struct Wait {
  ActionPlace waiting;
  ActionPlace needed;
  bool operator==(const Wait&) const = default;
};

/// Each wait needs an action of the rank whose wait comes next; the last one, of the first.
struct Deadlock {
  std::vector<Wait> cycle;
};
/// "rank 1 waits at backward 3 for backward 3 of rank 2, which waits at ...".
[[nodiscard]] std::string to_text(const Deadlock& deadlock, const ComputeSchedule& schedule);

/// An action when everything that it waits for has run.
struct DryRunStep {
  ActionKind kind = ActionKind::forward;
  std::int32_t rank = 0;
  std::int32_t stage = 0;
  std::int32_t hop = -1;     ///< stage boundary (s: between s and s + 1) to another rank that its input crosses, or -1
  std::int64_t input = -1;   ///< slot that it reads, or -1
  std::int64_t output = -1;  ///< slot that it fills, or -1
};

struct DryRun {
  std::vector<DryRunStep> steps;
  std::int64_t slots = 0;  ///< results that others wait for: forwards, then input gradients
  std::optional<Deadlock> deadlock;
};

/// Requires `!action_fault(schedule)`. Linear in the number of actions.
[[nodiscard]] DryRun dry_run(const ComputeSchedule& schedule);

}  // namespace plumbline
