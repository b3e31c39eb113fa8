#pragma once
/// \file order_makespan.h: how long any order of compute actions takes, in integer picoseconds, exactly.
///
/// Answers: when each rank starts and ends, the makespan, and the period of steps without a barrier between them.
/// Model: a rank runs its actions one after another, each as soon as its input is there (dry_run.h); an input from
/// another rank arrives a latency later and occupies neither, or (Hop) its reader; a full backward takes both its
/// halves.
/// Source: event evaluation; period: maximum cycle ratio of the repeated graph (arXiv:2401.10241 measures it so), by
/// Karp's algorithm on the longest paths from every rank's first action to every rank's last.
/// Not modelled: sends that block the sender, links shared by transfers, compute slowed by communication (the simulator
/// does). Checked against: tests/reference/pipeline_orders_test.cpp (solved instances, published bubble rates);
/// tests/property/order_makespan_test.cpp (longest path and cycle ratio of the explicit graph, by Boost), exact.

#include <compare>

#include "core/program/dry_run.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// How an input comes from another rank: `transit` after it was made, then `receipt` on the reader's own time.
struct Hop {
  Picoseconds transit{0};
  Picoseconds receipt{0};
};

/// How much longer a stage's last weight gradients take, and when what is reduced alongside them is, from their begin.
struct LastWeight {
  Picoseconds longer{0};
  Picoseconds reducing{0};
};

/// How much longer a stage's first forward takes, and how long its rank waits after it.
struct FirstForward {
  Picoseconds longer{0};
  Picoseconds wait{0};
};

/// What the actions of one micro-batch take on each stage of the network, and how far its neighbour is.
struct StageTimes {
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward_input;
  std::vector<Picoseconds> backward_weight;
  std::vector<Picoseconds> latency;  ///< between stages s and s + 1, both directions; unused inside a rank
  // Where directions or receipts differ, in place of `latency`: what activations and gradients take into each stage.
  std::vector<Hop> into_forward = {};
  std::vector<Hop> into_backward = {};
  std::vector<Picoseconds> backward = {};  ///< both halves in one; empty: their sum
  // What happens once per step; empty: nothing.
  std::vector<Picoseconds> start = {};           ///< per rank: before its first action
  std::vector<FirstForward> first_forward = {};  ///< per stage
  std::vector<LastWeight> last_weight = {};      ///< per stage
};

/// `times` of equal stages.
[[nodiscard]] StageTimes equal_stages(std::int32_t stages, Picoseconds forward, Picoseconds backward_input,
                                      Picoseconds backward_weight, Picoseconds latency);

struct OrderTiming {
  std::vector<Picoseconds> start;  ///< of each rank's first action
  std::vector<Picoseconds> end;    ///< of each rank's last action
  [[nodiscard]] Picoseconds makespan() const;
  /// The longest time that a rank takes from its start to its end, each starting as early as it can.
  [[nodiscard]] Picoseconds longest_rank() const;
};
/// Every action as early as its order allows. Requires `!run.deadlock`.
[[nodiscard]] OrderTiming order_timing(const DryRun& run, const StageTimes& times);
/// The same, and when each action ended, by rank and place in its order.
struct RecordedTiming {
  OrderTiming timing;
  std::vector<std::vector<Picoseconds>> ends;
};
[[nodiscard]] RecordedTiming recorded_timing(const DryRun& run, const StageTimes& times);
/// The timing of a schedule that is known to end: `InternalError` otherwise.
[[nodiscard]] Picoseconds order_makespan(const ComputeSchedule& schedule, const StageTimes& times);

/// An exact fraction of a number of steps: `total` picoseconds for `steps` steps, in lowest terms.
struct Period {
  Picoseconds total{0};
  std::int64_t steps = 1;
  bool operator==(const Period&) const = default;
  [[nodiscard]] double picoseconds() const { return static_cast<double>(total.value()) / static_cast<double>(steps); }
};
/// The time per step of endless steps when a rank may start the next one as soon as it has ended its own part.
/// O(p (actions + p^2)).
[[nodiscard]] Period period_without_barrier(const ComputeSchedule& schedule, const StageTimes& times);

}  // namespace plumbline
