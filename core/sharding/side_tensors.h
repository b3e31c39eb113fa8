#pragma once
/// \file side_tensors.h: what operators make on the side (statistics, masks, probabilities), kept or not.
///
/// Answers bytes per micro-batch and rank, in order of execution. Model and source: saved_tensors.h, whose entries of
/// operators these are; here also those of operators that have no backward. Not modelled: scratch of kernels.
/// Checked against: tests/runtime/execution/recipes_test.cpp (frozen layers).

#include "core/sharding/saved_tensors.h"

namespace plumbline {

[[nodiscard]] std::vector<SavedTensor> side_tensors(const Block& block, const Shard& shard);

}  // namespace plumbline
