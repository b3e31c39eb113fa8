#pragma once
/// \file working_set_sizes.h: what both directions of a working set ask of a block: sizes, order, who enters a region.
///
/// Answers bytes per rank of single tensors and rows. Model, source and what it was checked against: working_set.h.

#include <algorithm>

#include "core/cost/working_set.h"

namespace plumbline {

/// What both directions ask of a block.
class WorkingSetSizes {
 public:
  WorkingSetSizes(const WorkingSetModel& model, const KeepRule& kept)
      : block(model.block_), shard(model.shard_), rule(kept), model_(model) {}

  [[nodiscard]] static std::size_t slot(TensorId id) { return static_cast<std::size_t>(id.index()); }
  [[nodiscard]] static std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }
  [[nodiscard]] Bytes bytes(TensorId id) const { return model_.tensors_[slot(id)].bytes; }
  /// With all rows of the context-parallel slice.
  [[nodiscard]] Bytes whole(TensorId id) const { return bytes(id) * (is_sliced(id) ? shard.sequence_ranks() : 1); }
  [[nodiscard]] bool is_sliced(TensorId id) const { return model_.tensors_[slot(id)].is_sliced; }
  [[nodiscard]] bool is_logits(TensorId id) const { return model_.tensors_[slot(id)].is_logits; }
  [[nodiscard]] bool carries(TensorId id) const { return block.carries_gradient()[slot(id)]; }
  [[nodiscard]] bool trains(const Op& op) const {
    return std::any_of(op.parameters.begin(), op.parameters.end(),
                       [&](TensorId id) { return block.tensor(id).trainable; });
  }
  /// Statistics, masks and probabilities, one by one.
  template <class Visit>
  void for_sides(OpId id, Visit visit) const {
    for (const Bytes bytes : model_.sides_[slot(id)]) visit(bytes);
  }
  [[nodiscard]] static bool enters(const Op& op) {
    return op.kind == OpKind::linear && std::get<LinearAttributes>(op.attributes).partition == WeightPartition::column;
  }
  [[nodiscard]] bool leaves(const Op& op) const {
    if (op.kind == OpKind::embedding) return block.tensor(op.parameters.front()).partition == Partition::tensor;
    return op.kind == OpKind::linear && std::get<LinearAttributes>(op.attributes).partition == WeightPartition::row;
  }
  [[nodiscard]] std::int32_t position(OpId id) const { return model_.position_[slot(id)]; }
  [[nodiscard]] bool is_entered_before(TensorId input, OpId id) const {
    const auto& readers = block.consumers(input);
    return std::any_of(readers.begin(), readers.end(),
                       [&](OpId r) { return enters(block.op(r)) && position(r) < position(id); });
  }
  /// Rows of a dispatch or combine, one for each choice of the rank's own tokens.
  [[nodiscard]] Bytes chosen(TensorId routed) const { return chosen_bytes(block.tensor(routed), shard); }
  [[nodiscard]] bool exchanges(const Op& op) const {
    return shard.experts_exchange() && (op.kind == OpKind::dispatch || op.kind == OpKind::combine);
  }
  /// Keys and values that travel a ring.
  [[nodiscard]] Bytes travelling(const Op& op) const { return bytes(op.inputs[1]) + bytes(op.inputs[2]); }

  const Block& block;
  const Shard& shard;
  const KeepRule& rule;

 private:
  const WorkingSetModel& model_;
};

}  // namespace plumbline
