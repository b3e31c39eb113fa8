#include "runtime/execution/kernel_call.h"

#include <algorithm>
#include <array>

#include "core/sharding/logits.h"

namespace plumbline {
namespace {

bool is_routed(const Tensor& tensor) {
  return tensor.partition == Partition::routed || tensor.partition == Partition::routed_tensor;
}

void run_add(const KernelCall& call) { call.kernels().add({call.view(0), call.view(1), call.view(2)}); }

/// The sum of two contributions to a gradient. Who else holds the sum would see it change.
void run_accumulate(const KernelCall& call) {
  check(call.buffer(2).use_count() == 1, "a gradient that is added to has one holder");
  const TensorId like = call.tensor(2);
  call.kernels().add({call.view(0, like), call.view(1, like), call.view(2, like)});
}

}  // namespace

const BufferRef& KernelCall::buffer(std::size_t operand) const {
  check(has(operand), "an instruction's operand is there: " + op.name);
  const BufferRef& held = state_.buffers[static_cast<std::size_t>(operands_[operand])];
  check(held != nullptr, "an instruction's operand is allocated: " + op.name);
  return held;
}

TensorView KernelCall::view(std::size_t operand, TensorId like) const {
  const BufferRef& held = buffer(operand);
  const NumberFormat number = format(like);
  const std::int64_t width = columns(like);
  const std::int64_t stride = is_logits(block, like) ? logit_stride(width) : width;
  return {held->data(), number, held->bytes().value() * 8 / bits(number) / stride, width, stride};
}

std::int64_t KernelCall::rows(TensorId id) const {
  const Tensor& tensor = block.tensor(id);
  return is_routed(tensor) ? state_.rows.rows() : local_rows(tensor, share.shard);
}
std::int64_t KernelCall::columns(TensorId id) const {
  const Tensor& tensor = block.tensor(id);
  return local_elements(tensor, share.shard) / std::max<std::int64_t>(1, local_rows(tensor, share.shard));
}
NumberFormat KernelCall::format(TensorId id) const { return storage_format(block.tensor(id), share.shard.formats); }

Bytes KernelCall::size_of(const BlockBuffer& buffer) const {
  if (buffer.rows == BufferRows::none) return buffer.bytes;
  const std::int64_t width = columns(buffer.like);
  const Bytes row = storage(is_logits(block, buffer.like) ? logit_stride(width) : width, format(buffer.like));
  switch (buffer.rows) {
    case BufferRows::whole: return row * rows(buffer.like) * std::int64_t{share.shard.tensor_parallel};
    case BufferRows::chosen: return row * state_.rows.chosen();
    default: return row * rows(buffer.like);
  }
}

SizeFrom KernelCall::size_from(const BlockBuffer& buffer) const {
  const bool holds_arrivals =
      buffer.rows != BufferRows::none && buffer.rows != BufferRows::chosen && is_routed(block.tensor(buffer.like));
  return holds_arrivals && share.shard.experts_exchange() ? SizeFrom::routing : SizeFrom::program;
}

bool KernelCall::makes_part() const { return share.shard.tensor_parallel > 1 && is_summed_over_ranks(block, op); }

DropoutDraw KernelCall::draw() const {
  constexpr std::uint32_t most_ops = 4096;  // of a block, so that every op of a network has a number of its own
  const DropoutConstants& p = parts.plan.constants.dropout;
  const float probability = parts.pass.is_evaluating           ? 0.0F
                            : op.kind == OpKind::attention     ? p.attention
                            : block.kind() == BlockKind::input ? p.embedding
                                                               : p.residual;
  const auto number = static_cast<std::uint32_t>(execution) * most_ops + static_cast<std::uint32_t>(instruction.op);
  return {probability, {.op = number, .seed_of_step = parts.values.inputs.seed()}};
}

namespace {

struct OpKernel {
  OpKind kind;
  void (*run)(const KernelCall&);
};
struct FamilyKernel {
  OpFamily family;
  void (*run)(const KernelCall&);
};
/// What is executed: families that are run alike, and other operators. A network with another is refused.
constexpr std::array family_kernels = std::to_array<FamilyKernel>({{OpFamily::token_norm, run_norm},
                                                                   {OpFamily::activation, run_activation},
                                                                   {OpFamily::token_permutation, run_expert_rows}});
constexpr std::array op_kernels = std::to_array<OpKernel>({{OpKind::embedding, run_embedding},
                                                           {OpKind::position_embedding, run_position_embedding},
                                                           {OpKind::linear, run_linear},
                                                           {OpKind::grouped_linear, run_grouped_linear},
                                                           {OpKind::router, run_router},
                                                           {OpKind::attention, run_attention},
                                                           {OpKind::rotary, run_rotary},
                                                           {OpKind::dropout, run_dropout},
                                                           {OpKind::add, run_add},
                                                           {OpKind::cross_entropy, run_loss}});

constexpr auto kernel_of(OpKind kind) -> void (*)(const KernelCall&) {
  for (const OpKernel& own : op_kernels)
    if (own.kind == kind) return own.run;
  for (const FamilyKernel& common : family_kernels)
    if (is_executed(kind) && is_of(common.family, kind)) return common.run;
  return nullptr;
}
static_assert(std::all_of(op_records.begin(), op_records.end(),
                          [](const OpRecord& record) {
                            return (kernel_of(record.kind) != nullptr) == is_executed(record.kind);
                          }),
              "the operators that are said to be executed are those with a kernel");

}  // namespace

void run_kernel(const KernelCall& call) {
  if (call.instruction.role == KernelRole::accumulate) return run_accumulate(call);
  const auto kernel = kernel_of(call.op.kind);
  check(kernel != nullptr, "an operator of a network that passed the capability check is executed");
  kernel(call);
}

}  // namespace plumbline
