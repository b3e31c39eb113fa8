#pragma once
/// \file program_cost.h: picoseconds that each action of a program takes alone, or its message travels.
///
/// Model: the terms of step_time.h, action by action: compute and exposed collectives of a segment; gathers and
/// reductions in full, divided over a rank's actions by their bytes; a hop for each message, on its way or at the
/// receiver (Handover), over the link of its boundary; optimizer step and overhead once. Alongside them what the stack
/// and the machine make of actions that run at the same time: how much they slow each other, and which streams share a
/// link. Copies to the host and back are one lane of a rank, as fast as its bus. Source: step_time.h, block_cost.h. A
/// split backward gives weight gradients what block_cost.h prices for them, and accumulation. Not modelled: how long a
/// collective of a few bytes takes (its share of the whole); links shared by collectives of tensor, context and expert
/// parallelism, whose exposed share alone is known; host links that devices share. Checked against:
/// tests/property/simulation_agreement_test.cpp (closed form of the same plans).

#include "core/cost/program_sizes.h"

namespace plumbline {

/// The link that each stream of a rank sends over; -1: one of its own.
using StreamLinks = std::array<std::int32_t, stream_count>;

struct ActionTimes {
  std::vector<std::vector<Picoseconds>> of_rank;  ///< by action; of sends: until the message is there
  Picoseconds overhead{0};                        ///< of the step, on no rank in particular
  /// By how much compute, and collectives alongside it, take longer while both run: 0.2 is a fifth.
  double overlap_slowdown = 0;
  /// By rank; what flows over one link at the same time shares its rate. Empty: none.
  std::vector<StreamLinks> links{};
  /// By pipeline rank: whether messages between it and the one before it, of the first rank those round the loop, take
  /// the link of their stream; the others have one of their own. Empty: all do.
  std::vector<std::uint8_t> leaves_node{};
  /// How long the busiest link between two stages carries the step's messages of one direction.
  Picoseconds busiest_link{0};
  bool steps_early = false;  ///< ranks pass the program's barriers without waiting (StepPricer::steps_early)
};

/// `program` was lowered from `plan` and `segments`.
[[nodiscard]] ActionTimes action_times(const PricedPlan& plan, const SegmentTable& segments, const Program& program);

}  // namespace plumbline
