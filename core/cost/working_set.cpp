#include "core/cost/working_set.h"

#include <algorithm>

#include "core/cost/side_tensors.h"
#include "core/cost/working_set_walks.h"

namespace plumbline {
namespace {

using Sizes = WorkingSetSizes;

/// Rows that weight gradients gather again; in order of the deferred operators.
Bytes weight_bytes(const Sizes& sizes, const std::vector<OpId>& deferred) {
  Bytes live(0);
  Bytes most(0);
  std::vector<TensorId> entered;
  for (const OpId id : deferred) {
    const Op& op = sizes.block.op(id);
    if (!Sizes::enters(op) || !sizes.is_sliced(op.inputs[0])) continue;
    const TensorId x = op.inputs[0];
    if (std::find(entered.begin(), entered.end(), x) == entered.end()) {
      entered.push_back(x);
      live += sizes.whole(x);
    }
    most = std::max(most, live);
    if (!sizes.is_entered_before(x, id)) live -= sizes.whole(x);
  }
  return most;
}

bool is_product(const Op& op) {
  return op.kind == OpKind::linear || op.kind == OpKind::grouped_linear || op.kind == OpKind::router;
}

/// Inputs that deferred products read.
void hold_inputs(const Sizes& sizes, const std::vector<OpId>& deferred, WorkingSets& sets) {
  std::vector<bool> counted(sizes.block.tensors().size(), false);
  for (const OpId id : deferred) {
    const Op& op = sizes.block.op(id);
    if (!is_product(op)) continue;
    if (sizes.is_logits(op.outputs.front())) sets.needs_logits = true;
    const TensorId x = op.inputs.front();
    if (counted[Sizes::slot(x)]) continue;
    counted[Sizes::slot(x)] = true;
    (sizes.rule.keeps_tensor[Sizes::slot(x)] ? sets.saved_for_weight : sets.deferred) += sizes.bytes(x);
  }
}

}  // namespace

WorkingSetModel::WorkingSetModel(const Block& block, const Shard& shard)
    : block_(block),
      shard_(shard),
      saved_(saved_tensors(block, shard)),
      sides_(block.ops().size()),
      position_(block.ops().size()) {
  for (std::size_t t = 0; t < block.tensors().size(); ++t) {
    const TensorId id(static_cast<std::int32_t>(t));
    const Tensor& tensor = block.tensors()[t];
    const auto& readers = block.consumers(id);
    const bool is_logits =
        std::any_of(readers.begin(), readers.end(), [&](OpId r) { return block.op(r).kind == OpKind::cross_entropy; });
    tensors_.push_back({tensor.role == TensorRole::parameter ? Bytes(0) : local_bytes(tensor, shard),
                        shard.sequence_ranks() > 1 && tensor.partition == Partition::sequence, is_logits});
  }
  for (const SavedTensor& side : side_tensors(block, shard)) sides_[Sizes::slot(side.op)].push_back(side.bytes);
  for (std::size_t i = 0; i < block.ops().size(); ++i)
    position_[Sizes::slot(block.execution_order()[i])] = static_cast<std::int32_t>(i);
}

WorkingSets WorkingSetModel::of(const Replay& replay, BackwardForm form) const {
  const KeepRule rule = keep_rule(block_, saved_, replay);
  const Sizes sizes(*this, rule);
  WorkingSets sets;
  WorkingLedger forward;
  walk_forward(sizes, forward, Round::first);
  sets.forward = forward.most();
  WorkingLedger whole;
  (void)walk_backward(sizes, whole, GradientPart::all);
  sets.backward = whole.most();
  if (form == BackwardForm::whole) return sets;
  WorkingLedger inputs;
  const std::vector<OpId> deferred = walk_backward(sizes, inputs, GradientPart::inputs);
  sets.backward_input = inputs.most();
  sets.deferred = inputs.deferred();
  hold_inputs(sizes, deferred, sets);
  sets.weight = weight_bytes(sizes, deferred);
  return sets;
}

}  // namespace plumbline
