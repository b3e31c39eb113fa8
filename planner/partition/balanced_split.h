#pragma once
/// \file balanced_split.h: the split of a network over pipeline ranks, chosen together with what the ranks recompute.
///
/// Answers which blocks each rank of a 1F1B pipeline holds, of least makespan in picoseconds, or nothing when no split
/// fits. Model: every range of blocks on every rank takes what the strategy's recompute mode says of it, or its
/// placement of least replay (placement.h); ranges that do not fit are left out; the ranges are chosen by
/// one_f_one_b_partition. Exact for stage times of forward, backward and replay and one latency per link; ranges that
/// alone exceed the makespan of the even split are left out.
/// Source: Sun et al., AdaPipe, ASPLOS'24.
/// Not modelled: what StepPricer adds per step (gradient reduction, optimizer) or per micro-batch by parameter count
/// (accumulation, ZeRO's gathers); virtual stages. Price the answer with StepPricer.
/// Checked against: tests/property/placement_test.cpp (all compositions of a small network, exact).

#include <optional>

#include "planner/checkpointing/placement.h"
#include "planner/partition/partition.h"

namespace plumbline {

struct BalancedSplit {
  std::vector<Chunk> chunks;
  Picoseconds makespan{0};
  std::vector<Picoseconds> latency;  ///< that the makespan counts between ranks
  bool proven = true;
};
/// Requires a strategy of one virtual stage under 1F1B, or of one stage (rule R19). `blocks`: block_costs of the same.
[[nodiscard]] std::optional<BalancedSplit> balanced_split(const Question& question, const Strategy& strategy,
                                                          const std::vector<BlockCost>& blocks);

}  // namespace plumbline
