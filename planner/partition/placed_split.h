#pragma once
/// \file placed_split.h: the split of a network over pipeline ranks and the placement of recompute, chosen together.
///
/// Answers which blocks each rank of a 1F1B pipeline holds and what they replay, of least makespan in picoseconds.
/// Model: every range of blocks on every rank gets its placement of least replay (placement.h), the ranges are chosen
/// by one_f_one_b_partition. Exact for stage times of forward, backward and replay and one latency per link; ranges
/// that alone exceed the makespan of the even split are left out.
/// Source: Sun et al., AdaPipe, ASPLOS'24.
/// Not modelled: what StepPricer adds per step (gradient reduction, optimizer) or per micro-batch by parameter count
/// (accumulation, ZeRO's gathers); virtual stages. Price the answer with StepPricer.
/// Checked against: tests/property/placement_test.cpp (all compositions of a small network, exact).

#include "planner/checkpointing/placement.h"
#include "planner/partition/partition.h"

namespace plumbline {

struct PlacedSplit {
  std::vector<Chunk> chunks;
  Placement placement;
  Picoseconds makespan{0};
  std::vector<Picoseconds> latency;  ///< that the makespan counts between ranks
  bool proven = true;
};
/// Requires a strategy of one virtual stage under 1F1B, or of one stage.
[[nodiscard]] std::optional<PlacedSplit> best_placed_split(const RecomputePlacer& placer);

}  // namespace plumbline
