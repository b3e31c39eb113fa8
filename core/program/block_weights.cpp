#include <set>

#include "core/program/block_passes.h"
#include "core/program/gathered_rows.h"

namespace plumbline {
namespace {

bool is_product(const Op& op) { return is_linear(op.kind) || op.kind == OpKind::router; }

/// Weight gradients read inputs of products, and logits, which are their own gradients; the rest goes.
void keep_for_weights(const BlockFacts& f, BlockEmitter& emit, BlockValues& values, const BackwardResult& backward) {
  std::set<std::int32_t> needed;
  bool needs_logits = false;
  for (const DeferredWork& work : backward.deferred) {
    const Op& op = f.block.op(work.op);
    if (!is_product(op)) continue;
    needed.insert(product_input(values, op, work.op));
    needs_logits = needs_logits || f.is_logits(op.outputs.front());
  }
  emit.begin(BlockPass::keep_for_weights);
  for (std::int32_t gradient : backward.input_gradients) emit.release(gradient);
  for (const std::int32_t buffer : needed) emit.reclassify(buffer, MemoryClass::activations);
  for (std::size_t t = 0; t < values.tensors.size(); ++t) {
    const bool is_logits = f.is_logits(TensorId(static_cast<std::int32_t>(t)));
    if (!needed.contains(values.tensors[t]) && !(needs_logits && is_logits)) emit.release(values.tensors[t]);
  }
  for (std::int32_t& gathered : values.gathered)
    if (!needed.contains(gathered)) emit.release(gathered);
  for (const OpId id : f.block.execution_order()) {
    if (needs_logits && f.block.op(id).kind == OpKind::cross_entropy) continue;
    for (std::int32_t& side : values.sides[slot(id)])
      if (!needed.contains(side)) emit.release(side);
  }
}

/// One operator's gradients of weights; rows that other tensor-parallel ranks hold are gathered again.
class WeightLowering {
 public:
  WeightLowering(const BlockFacts& facts, BlockEmitter& emit, const BlockValues& values)
      : f_(facts), emit_(emit), values_(values), gathered_(facts, emit, values.gathered) {}

  void run(DeferredWork& work) {
    const Op& op = f_.block.op(work.op);
    if (is_token_norm(op.kind))
      emit_.kernel(work.op, KernelRole::add_deferred, work.buffers);
    else if (is_lookup(op.kind))
      multiply(work, no_buffer);
    else
      product(work, op);
    for (std::int32_t& buffer : work.buffers) emit_.release(buffer);
  }

 private:
  void multiply(const DeferredWork& work, std::int32_t input) {
    std::vector<std::int32_t> operands{input};
    operands.insert(operands.end(), work.buffers.begin(), work.buffers.end());
    emit_.kernel(work.op, KernelRole::weight_gradient, operands);
  }
  void product(const DeferredWork& work, const Op& op) {
    const TensorId x = op.inputs.front();
    const std::int32_t value = product_input(values_, op, work.op);
    if (!BlockFacts::is_column_parallel(op)) return multiply(work, value);
    multiply(work, gathered_.rows(work.op, x, value));
    if (!f_.is_gathered_before(x, work.op)) gathered_.release(x);
  }

  const BlockFacts& f_;
  BlockEmitter& emit_;
  const BlockValues& values_;
  GatheredRows gathered_;
};

}  // namespace

void lower_weights(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BackwardResult backward) {
  keep_for_weights(facts, emit, values, backward);
  emit.begin(BlockPass::weight);
  WeightLowering weights(facts, emit, values);
  for (DeferredWork& work : backward.deferred) weights.run(work);
}

}  // namespace plumbline
