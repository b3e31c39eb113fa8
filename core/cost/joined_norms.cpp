#include "core/cost/joined_norms.h"

#include <algorithm>
#include <vector>

namespace plumbline {
namespace {

constexpr PassCounts activation_in_norm{0, 0};
/// The other operand; its gradient written, and read where the branches met.
constexpr PassCounts addition_in_norm{1, 2};

/// The operator that makes a tensor that nothing else reads, or null.
const Op* only_reader_of(const Block& block, TensorId tensor) {
  const OpId producer = block.producer(tensor);
  return producer.is_valid() && block.consumers(tensor).size() == 1 ? &block.op(producer) : nullptr;
}

bool reads_norm(const Block& block, const Op& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
    const Op* const before = only_reader_of(block, input);
    return before != nullptr && before->kind == OpKind::batch_norm;
  });
}

bool is_activated(const Block& block, const Op& op) {
  const std::vector<OpId>& readers = block.consumers(op.outputs.front());
  return readers.size() == 1 && block.op(readers.front()).kind == OpKind::activation;
}

}  // namespace

std::optional<PassCounts> passes_in_norm(const Block& block, const Op& op) {
  if (op.kind == OpKind::add && is_activated(block, op) && reads_norm(block, op)) return addition_in_norm;
  if (op.kind != OpKind::activation) return std::nullopt;
  if (reads_norm(block, op)) return activation_in_norm;
  const Op* const before = only_reader_of(block, op.inputs.front());
  const bool follows_joined = before != nullptr && before->kind == OpKind::add && reads_norm(block, *before);
  return follows_joined ? std::optional(activation_in_norm) : std::nullopt;
}

}  // namespace plumbline
