#pragma once
/// \file order_makespan.h: how long any order of compute actions takes, in integer picoseconds, exactly.
///
/// Answers: when each rank starts and ends, and the makespan.
/// Model: a rank runs its actions one after another, each as soon as its input is there (dry_run.h); an input from
/// another rank arrives a latency later and occupies neither, or (Hop) its reader; a full backward takes both its
/// halves.
/// Source: event evaluation.
/// Not modelled: sends that block the sender, links shared by transfers, compute slowed by communication (the simulator
/// does). Checked against: tests/reference/pipeline_orders_test.cpp (solved instances, published bubble rates);
/// tests/property/order_makespan_test.cpp (longest path of the explicit graph, by Boost), exact.

#include "core/program/dry_run.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// How an input comes from another rank: `transit` after it was made, then `receipt` on the reader's own time.
struct Hop {
  Picoseconds transit{0};
  Picoseconds receipt{0};
};

/// How much longer a stage's last weight gradients take, when what is reduced alongside them is, from their begin, and
/// how long its rank waits after them.
struct LastWeight {
  Picoseconds longer{0};
  Picoseconds reducing{0};
  Picoseconds wait{0};
};

/// How much longer a stage's first forward takes, how long its rank waits after it, and for how long then no other
/// stage's first forward may begin on the rank.
struct FirstForward {
  Picoseconds longer{0};
  Picoseconds wait{0};
  Picoseconds next{0};
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

struct OrderTiming {
  std::vector<Picoseconds> start;  ///< of each rank's first action
  std::vector<Picoseconds> end;    ///< of each rank's last action
  [[nodiscard]] Picoseconds makespan() const;
};
/// Every action as early as its order allows. Requires `!run.deadlock`.
[[nodiscard]] OrderTiming order_timing(const DryRun& run, const StageTimes& times);
/// The same, and when each action ended, by rank and place in its order.
struct RecordedTiming {
  OrderTiming timing;
  std::vector<std::vector<Picoseconds>> ends;
};
[[nodiscard]] RecordedTiming recorded_timing(const DryRun& run, const StageTimes& times);

}  // namespace plumbline
