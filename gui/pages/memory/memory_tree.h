#pragma once
/// \file memory_tree.h: what a rank of a stage holds at its peak, down to layers and tensors.
///
/// Answers: for each class its bytes, and of what comes and goes the bytes of each layer, of all micro-batches in
/// flight together. They sum to the simulated peak. Model: the program of single executions of blocks
/// (Granularity::block), its buffers alive at the peak. States (weights, gradients, moments),
/// which the program holds whole, are divided by tensors (state_leaves.h). Checked against:
/// tests/gui/pages/memory/memory_tree_test.cpp.

#include <string>
#include <vector>

#include "core/plan/estimate.h"
#include "planner/present/table.h"
#include "planner/pricing/simulated.h"

namespace plumbline::gui {

struct MemoryLeaf {
  std::string name;   ///< "layer 12"; of a class that has no parts the class
  std::string words;  ///< "4 buffers, micro-batches 0-3"
  Bytes bytes{0};
};
struct MemoryBranch {
  MemoryClass memory_class = MemoryClass::weights;
  Bytes bytes{0};
  std::vector<MemoryLeaf> leaves;  ///< largest first; sum to `bytes`
};

/// Classes that hold anything, in their order.
[[nodiscard]] std::vector<MemoryBranch> memory_tree(const SimulatedPlan& simulated, const Question& question,
                                                    const Strategy& strategy, std::size_t stage);
[[nodiscard]] present::Table memory_tree_table(const std::vector<MemoryBranch>& tree);

}  // namespace plumbline::gui
