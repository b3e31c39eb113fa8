#pragma once
/// \file fitted_zero_bubble.h: a zero-bubble order fitted to the times of its actions and to a memory limit.
///
/// Answers: an order of forwards, input and weight gradients (one chunk per rank) that waits little. Not an optimum.
/// Model: equal ranks. A greedy rule: forwards until the first gradient returns or memory is full; then gradients as
/// they arrive, weight gradients where the rank would wait for longer than they take or than another rank has waited
/// already. Eight variants of the rule; the one whose slowest rank is busy for the shortest time wins.
/// Source: arXiv:2401.10241 section 3.1 (ZB-1p and ZB-2p: limits of p and 2 p activations), as its authors' code has
/// it. Not modelled: unequal ranks; it gives up a variant in which memory is full and no weight gradient is owed.
/// Checked against: tests/reference/zero_bubble_rates_test.cpp (the paper's 18 bubble rates, to its four digits).

#include <optional>

#include "core/program/order_makespan.h"

namespace plumbline {

struct FittedZeroBubble {
  Picoseconds forward;
  Picoseconds backward_input;
  Picoseconds backward_weight;
  Picoseconds latency;
  // Memory in any unit: what a forward keeps, how much of it its weight gradient still needs, and the limit of a rank.
  std::int64_t activation = 1;
  std::int64_t weight_state = 1;
  std::int64_t limit = 1;
};

/// Nothing when no variant fits into the limit.
[[nodiscard]] std::optional<ComputeSchedule> fitted_zero_bubble(std::int32_t pipeline_stages,
                                                                std::int32_t micro_batches,
                                                                const FittedZeroBubble& costs);

}  // namespace plumbline
