#pragma once
/// \file timeline.h: when every action of a program starts and ends, in integer picoseconds from the step's begin.
///
/// Model: an action starts when what it needs has ended (program.h): the action before it on its rank, what arrived for
/// it, its queue, every rank at a barrier. Messages in transit occupy nobody. What runs alongside compute (Issue) slows
/// it and is slowed by it (ActionTimes::overlap_slowdown, once, however many collectives run); copies and messages do
/// not. Streams with one link share its rate equally while they are active, where messages of a rank in one direction
/// follow each other. Rates change at events only, and what is left of an action is kept in whole picoseconds, so that
/// the same program gives the same timeline everywhere; each change costs an action less than a picosecond. Ranks may
/// compute slower than priced (stragglers, older devices) by a factor each. Sends that block: transfers that follow
/// each other on a rank are posted together (as frameworks batch them), and occupy it until both ends were posted and
/// the messages are there.
/// A link carries a step's messages one after the other. Where that takes longer than the actions, the step ends with
/// the last message, after the last span (wait_for_links).
/// Where ranks step early (ActionTimes), barriers hold nobody, and the three ends of the timeline count from each
/// rank's own begin: the longest of the ranks, and the slowest optimizer; the actions keep their times in one step.
/// Source: event evaluation of an acyclic program; arXiv:2401.10241 section 3 for the dependencies; equal shares of a
/// link: max-min fairness of one bottleneck; messages: NCCL's sends to a peer run in the order of their stream.
/// Not modelled: flows that share several links of different rate; more than two levels of slowdown.
/// Checked against: tests/property/simulation_agreement_test.cpp; tests/unit/core/simulate/timeline_test.cpp.

#include <optional>
#include <string>

#include "core/cost/program_cost.h"

namespace plumbline {

struct Span {
  Picoseconds start{0};
  Picoseconds end{0};
  [[nodiscard]] Picoseconds length() const { return end - start; }
  bool operator==(const Span&) const = default;
};

struct Timeline {
  std::vector<std::vector<Span>> of_rank;  ///< by action
  Picoseconds micro_batches_end{0};        ///< last micro-batch done on all ranks: the pipeline's makespan
  Picoseconds reductions_end{0};           ///< gradients are complete on all ranks
  Picoseconds step{0};                     ///< optimizers and copies done, and the step's overhead
  Picoseconds end{0};                      ///< of the last action, with the overhead: the step, or later
  std::optional<std::string> stall;        ///< what ranks wait for for ever: only when sends block
};

/// Whether a rank goes on while its message travels, or waits until the receiver has it.
enum class Sends : std::uint8_t { in_transit, blocking };

struct TimelineOptions {
  std::vector<double> slowdown;  ///< per rank, of its compute: 2 takes twice as long; empty: 1 for all
  Sends sends = Sends::in_transit;
};

/// Requires a program that ends (dry_run) and its times.
[[nodiscard]] Timeline timeline(const Program& program, const ActionTimes& times, const TimelineOptions& options = {});
/// Moves the ends of a timeline back to where the busiest link has carried all messages of the step. `left_out`: time
/// of micro-batches that the timeline does not hold.
void wait_for_links(Timeline& timeline, const ActionTimes& times, Picoseconds left_out = Picoseconds(0));
/// Of an action alone on a rank that computes slower by a factor.
[[nodiscard]] Picoseconds alone(const Action& action, Picoseconds time, double slowdown);

}  // namespace plumbline
