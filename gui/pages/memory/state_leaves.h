#pragma once
/// \file state_leaves.h: weights, gradients and optimizer state of a rank by the tensors that they belong to.
///
/// Answers: the bytes of a class in parts, one for each parameter tensor of each layer on the rank, which sum to it.
/// Model: in proportion to the rank's elements of each tensor (core/sharding/shard.h), of states those that are
/// trained, divided over the ranks that share them. Of a rank with very many of them, a tensor of all layers is one
/// part. Not modelled: formats and optimizer states that differ by tensor; padding, which is in the largest part.
/// Checked against: tests/gui/pages/memory/memory_tree_test.cpp (the formats' bytes times published shapes).

#include "gui/pages/memory/memory_tree.h"
#include "planner/session/estimate.h"

namespace plumbline::gui {

inline constexpr std::size_t most_state_leaves = 240;

/// Whether a class is that of parameters or of their training state.
[[nodiscard]] bool is_state(MemoryClass memory_class);
/// Empty where no tensor has a part in it. `executions`: of Graph::sequence(), those that the rank holds, with the
/// names that they are shown by.
[[nodiscard]] std::vector<MemoryLeaf> state_leaves(MemoryClass memory_class, Bytes total, const Question& question,
                                                   const Strategy& strategy, const std::vector<std::size_t>& executions,
                                                   const std::vector<std::string>& names);

}  // namespace plumbline::gui
