#pragma once
/// \file exact_placement.h: recompute placed on the ranks of schedules whose memory the placement only estimates.
///
/// Answers the variant of every execution, and whether each rank fits. Model: placement.h counts the mean of a rank's
/// chunks and, of a split backward, no more than of a whole one. What a rank really holds at its peak (peak_load.h) may
/// be more or less; so each rank is placed within a capacity that is moved, by the excess and then by halving, until
/// the peak just fits the device. What the estimate of memory is uncertain by stays free where some capacity allows it.
/// Source: none; a search over one number for each rank. Not modelled: peaks that shrink when a rank may hold more.
/// Checked against: tests/property/recompute_modes_test.cpp.

#include "planner/checkpointing/split_placer.h"

namespace plumbline {

/// The placement of `placer`'s strategy on these chunks.
[[nodiscard]] Placement exact_placement(const RecomputePlacer& placer, const std::vector<Chunk>& chunks);

}  // namespace plumbline
