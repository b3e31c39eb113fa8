#pragma once
/// \file kernel_call.h: one kernel instruction with its operands, and what runs it.
///
/// Answers views of operands; calls what an instruction names, of the device's kernels. Checked against:
/// tests/runtime/execution.

#include "core/program/block_program.h"
#include "kernels/dropout.h"
#include "runtime/execution/block_state.h"
#include "runtime/execution/kernel_parts.h"

namespace plumbline {

/// An instruction of one execution of a block, on one rank.
class KernelCall {
 public:
  KernelCall(const KernelParts& of_rank, const Block& of, const BlockProgram& program, BlockState& state,
             std::int32_t of_execution, const Instruction& what)
      : parts(of_rank),
        share(of_rank.share),
        device(of_rank.device),
        block(of),
        instruction(what),
        execution(of_execution),
        op(of.op(OpId(std::max(0, what.op)))),
        program_(program),
        state_(state),
        operands_(program.operands_of(what)) {}

  const KernelParts& parts;
  const RankShare& share;
  RankDevice& device;
  const Block& block;
  const Instruction& instruction;
  std::int32_t execution;
  const Op& op;

  [[nodiscard]] std::size_t operand_count() const { return operands_.size(); }
  [[nodiscard]] bool has(std::size_t operand) const { return operands_[operand] >= 0; }
  /// Throws InternalError where nothing is allocated.
  [[nodiscard]] const BufferRef& buffer(std::size_t operand) const;
  [[nodiscard]] TensorId tensor(std::size_t operand) const { return description(operand).like; }
  /// All of a buffer as rows of a tensor's width.
  [[nodiscard]] TensorView view(std::size_t operand, TensorId like) const;
  [[nodiscard]] TensorView view(std::size_t operand) const { return view(operand, tensor(operand)); }
  [[nodiscard]] float* floats(std::size_t operand) const { return reinterpret_cast<float*>(buffer(operand)->data()); }
  [[nodiscard]] BlockState& state() const { return state_; }
  [[nodiscard]] const RouteTable& routes() const { return *state_.routes; }
  [[nodiscard]] const ExchangedRows& exchanged() const { return state_.rows; }

  /// Of a routed tensor those that arrived.
  [[nodiscard]] std::int64_t rows(TensorId id) const;
  [[nodiscard]] std::int64_t columns(TensorId id) const;
  /// As a buffer of the tensor stores it.
  [[nodiscard]] NumberFormat format(TensorId id) const;
  [[nodiscard]] bool is_sliced(TensorId id) const {
    return share.slices_tokens() && block.tensor(id).partition == Partition::sequence;
  }
  /// Whether tensor-parallel ranks each make a part of the operator's output.
  [[nodiscard]] bool makes_part() const;
  [[nodiscard]] DropoutDraw draw() const;
  [[nodiscard]] ConstTensorView weight(TensorId parameter) const {
    return parts.parameters.weights.weight(execution, parameter);
  }
  /// Nothing, where the parameter is frozen.
  [[nodiscard]] TensorView gradient(TensorId parameter) const {
    return parts.parameters.gradients.gradient(execution, parameter);
  }
  [[nodiscard]] std::size_t inputs() const { return op.inputs.size(); }
  [[nodiscard]] const DeviceKernels& kernels() const { return device.lanes.kernels(); }
  /// With the scratch memory that it asks for.
  template <class Arguments>
  void run(const ScratchKernel<Arguments>& kernel, Arguments& arguments) const {
    arguments.workspace = device.memory.workspace(kernel.workspace(arguments));
    kernel.run(arguments);
  }
  /// Calls `act(place, first row, rows)` for each run of rows that lie in one sequence. `sliced`: the rows are this
  /// tensor-parallel rank's slice.
  template <class Act>
  void for_row_places(std::int64_t rows, bool sliced, Act act) const {
    const std::int64_t first = sliced ? share.groups.index(Axis::tensor) * rows : 0;
    plumbline::for_row_places(share, {rows, first, parts.batches.at_hand().first_sequence}, act);
  }
  /// What a buffer of the program takes with the rows that were routed.
  [[nodiscard]] Bytes size_of(const BlockBuffer& buffer) const;
  [[nodiscard]] SizeFrom size_from(const BlockBuffer& buffer) const;

 private:
  [[nodiscard]] const BlockBuffer& description(std::size_t operand) const {
    return program_.buffers[static_cast<std::size_t>(operands_[operand])];
  }
  const BlockProgram& program_;
  BlockState& state_;
  std::span<const std::int32_t> operands_;
};

/// A linear's outputs with the parameters of each.
struct LinearPart {
  TensorId output;
  TensorId weight;
  TensorId bias;
};
[[nodiscard]] std::vector<LinearPart> linear_parts(const Block& block, const Op& op);

/// Binds the copies that fp8 products of a block read of its weights.
void keep_product_weights(const KernelParts& parts, const Block& block, std::int32_t execution);

/// Calls the kernel that the instruction names.
void run_kernel(const KernelCall& call);

// By operator; each knows the roles that core/program/block_program.h gives it.
void run_embedding(const KernelCall& call);
void run_position_embedding(const KernelCall& call);
void run_linear(const KernelCall& call);
void run_grouped_linear(const KernelCall& call);
void run_router(const KernelCall& call);
void run_expert_rows(const KernelCall& call);
void run_norm(const KernelCall& call);
void run_attention(const KernelCall& call);
void run_ring_attention(const KernelCall& call);
void run_activation(const KernelCall& call);
void run_rotary(const KernelCall& call);
void run_dropout(const KernelCall& call);
void run_loss(const KernelCall& call);
/// Who goes where. In a replay, where the forward sent them.
void route_tokens(const KernelCall& call);
/// Rows to the ranks of their experts, or back.
void exchange_rows(const KernelCall& call);
/// Rows gathered from the ranks that divide the same experts, or summed over them, in place.
void share_rows(const KernelCall& call);
/// Packs a rank's tokens by the heads that each rank gets, or puts together what arrived by heads.
void run_head_copies(const KernelCall& call);
/// Packed rows to the ranks of their heads, or back to those of their tokens.
void exchange_heads(const KernelCall& call);
/// What weighs the experts of a token, as the network says.
[[nodiscard]] RouterWeights router_weights(const KernelCall& call);
[[nodiscard]] std::int64_t chosen_experts(const KernelCall& call, TensorId probabilities);

}  // namespace plumbline
