#pragma once
/// \file timeline.h: when every action of a program starts and ends, in integer picoseconds from the step's begin.
///
/// Model: an action starts when what it needs has ended (program.h): the action before it on its rank, what arrived for
/// it, every rank at a barrier. Messages in transit occupy nobody. Ranks may compute slower than priced (stragglers,
/// older devices) by a factor each.
/// Source: event evaluation of an acyclic program; arXiv:2401.10241 section 3 for the dependencies.
/// Not modelled: communication that shares the device or a link with other work at the same time; blocking sends.
/// Checked against: tests/property/simulation_agreement_test.cpp; tests/unit/core/simulate/timeline_test.cpp.

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
  Picoseconds step{0};                     ///< optimizers done, and the step's overhead
};

struct TimelineOptions {
  std::vector<double> slowdown;  ///< per rank, of its compute: 2 takes twice as long; empty: 1 for all
};

/// Requires a program that ends (dry_run) and its times.
[[nodiscard]] Timeline timeline(const Program& program, const ActionTimes& times, const TimelineOptions& options = {});

}  // namespace plumbline
