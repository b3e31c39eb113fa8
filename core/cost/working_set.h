#pragma once
/// \file working_set.h: what lives beside saved activations while a block runs, and what waits between split backwards.
///
/// Answers bytes per rank, for one micro-batch. Model: operators in order of execution, or against it. A value that is
/// not kept lives from the operator that makes it to its last reader, a block's outputs to the end; a gradient lives
/// from the first reader's backward to the operator that made the value, a second contribution beside it; a sum of two
/// hands its gradient on without a copy. Nothing is computed in place. Rows that a tensor-parallel region gathers live
/// while its linears read them; ring attention holds the travelling keys and values, and their gradients. What a replay
/// restores lives to the end of the backward. A split backward keeps, for its weight gradients, inputs and output
/// gradients of linears, routers and experts, and drops the rest. Rows of experts leave and arrive in buffers of their
/// own.
/// Source: PyTorch's autograd (reference counts); the runtime's own operators (runtime/execution/block_runner.h).
/// Not modelled: scratch of kernels; fused or in-place operators; inputs of weight gradients in fp8.
/// Checked against: tests/runtime/execution (strategies, experts): bytes that executed operators bind, exact.

#include "core/cost/keep_rule.h"

namespace plumbline {

struct WorkingSets {
  Bytes forward{0};
  Bytes backward{0};        ///< with the replay before it
  Bytes backward_input{0};  ///< the same of a split backward
  Bytes weight{0};          ///< weight gradients alone
  // From a split backward's input gradients to its weight gradients:
  Bytes saved_for_weight{0};  ///< of what the forward saved
  Bytes deferred{0};          ///< beside it
  bool needs_logits = false;  ///< whether logits, which are their own gradients then, are held as well
};

/// Whether a schedule may put weight gradients off: what only split backwards hold costs as much to find as the rest.
enum class BackwardForm : std::uint8_t { whole, split };

/// Of one block on one rank, for any number of choices of what is replayed. Block and shard outlive it.
class WorkingSetModel {
 public:
  WorkingSetModel(const Block& block, const Shard& shard);
  /// Linear in the operators. `whole`: without what only split backwards have.
  [[nodiscard]] WorkingSets of(const Replay& replay, BackwardForm form = BackwardForm::split) const;

 private:
  friend class WorkingSetSizes;
  struct Facts {
    Bytes bytes{0};
    bool is_sliced = false;
    bool is_logits = false;
  };
  const Block& block_;
  const Shard& shard_;
  std::vector<SavedTensor> saved_;
  std::vector<Facts> tensors_;             ///< by tensor
  std::vector<std::vector<Bytes>> sides_;  ///< by op
  std::vector<std::int32_t> position_;     ///< by op: in order of execution
};

}  // namespace plumbline
