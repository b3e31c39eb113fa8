#pragma once
/// \file block.h: an acyclic graph of operators that a network repeats, a stage holds and a recompute restores.
///
/// A transformer layer, an embedding, a loss head, or a whole U-Net. Immutable once built (see block_builder.h).
/// The order and reachability questions are answered by Boost.Graph behind block.cpp.

#include <memory>
#include <string>
#include <vector>

#include "core/graph/op.h"
#include "core/graph/tensor.h"

namespace plumbline {

/// Where a block may be placed in a pipeline: inputs first, outputs (final norm, head, loss) last.
enum class BlockKind : std::uint8_t { input, layer, output };

class Block {
 public:
  struct Parts {
    std::string name;
    BlockKind kind = BlockKind::layer;
    std::vector<Tensor> tensors;
    std::vector<Op> ops;
    std::vector<TensorId> inputs;   ///< what the block receives from the one before
    std::vector<TensorId> outputs;  ///< what it hands to the one after
    /// Whether anything before this block is trained, so that the gradient of its inputs is needed.
    bool needs_input_gradient = true;
  };
  /// Throws InputError naming block, op and tensor when `find_problem(parts)` finds one.
  explicit Block(Parts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] BlockKind kind() const { return parts_.kind; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return parts_.tensors; }
  [[nodiscard]] const std::vector<Op>& ops() const { return parts_.ops; }
  [[nodiscard]] const std::vector<TensorId>& inputs() const { return parts_.inputs; }
  [[nodiscard]] const std::vector<TensorId>& outputs() const { return parts_.outputs; }
  [[nodiscard]] bool needs_input_gradient() const { return parts_.needs_input_gradient; }
  [[nodiscard]] const Parts& parts() const { return parts_; }

  [[nodiscard]] const Tensor& tensor(TensorId id) const { return parts_.tensors[static_cast<std::size_t>(id.index())]; }
  [[nodiscard]] const Op& op(OpId id) const { return parts_.ops[static_cast<std::size_t>(id.index())]; }
  /// The op that writes `tensor`; invalid for inputs and parameters.
  [[nodiscard]] OpId producer(TensorId tensor) const { return producers_[static_cast<std::size_t>(tensor.index())]; }
  /// The ops that read `tensor`, in order of execution.
  [[nodiscard]] const std::vector<OpId>& consumers(TensorId tensor) const {
    return consumers_[static_cast<std::size_t>(tensor.index())];
  }
  /// Every op after the ops whose results it reads; ties in the order of construction.
  [[nodiscard]] const std::vector<OpId>& execution_order() const { return order_; }
  /// Per tensor: whether a gradient flows into it in the backward pass (it depends on something that is trained).
  [[nodiscard]] const std::vector<bool>& carries_gradient() const { return carries_gradient_; }

 private:
  Parts parts_;
  std::vector<OpId> producers_;
  std::vector<std::vector<OpId>> consumers_;
  std::vector<OpId> order_;
  std::vector<bool> carries_gradient_;
};

/// Whether the output of an operator is a sum of what tensor-parallel ranks each make.
[[nodiscard]] inline bool is_summed_over_ranks(const Block& block, const Op& op) {
  if (op.kind == OpKind::embedding) return block.tensor(op.parameters.front()).partition == Partition::tensor;
  return op.kind == OpKind::linear && is_row_parallel(op);
}

}  // namespace plumbline
