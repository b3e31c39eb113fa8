#pragma once
/// \file block_emitter.h: appends instructions to a pass, and counts who holds each buffer.
///
/// Model: a buffer is allocated once; several values may hold it, and the last one's release is an instruction.
/// Checked against: tests/unit/core/program/block_program_test.cpp.

#include <initializer_list>

#include "core/base/errors.h"
#include "core/program/block_program.h"

namespace plumbline {

/// A buffer that is no tensor's.
[[nodiscard]] inline BlockBuffer content_of(OpId op, BufferContent content) {
  return {.rows = BufferRows::none, .content = content, .op = op};
}
[[nodiscard]] inline BlockBuffer side_of(OpId op, std::size_t side) {
  return {.rows = BufferRows::none, .content = BufferContent::side, .side = static_cast<std::int32_t>(side), .op = op};
}

/// Stands for a buffer where there is none.
inline constexpr std::int32_t no_buffer = -1;

class BlockEmitter {
 public:
  explicit BlockEmitter(BlockProgram& program) : program_(program) {}

  /// Instructions go into this pass from here.
  void begin(BlockPass pass) { pass_ = &program_.pass(pass); }

  /// A buffer that whoever runs the pass brings along.
  std::int32_t given(BlockBuffer buffer) {
    program_.buffers.push_back(buffer);
    holders_.push_back(1);
    return static_cast<std::int32_t>(program_.buffers.size()) - 1;
  }
  std::int32_t allocate(BlockBuffer buffer, MemoryClass memory_class = MemoryClass::working_buffers) {
    const std::int32_t made = given(buffer);
    add({.kind = InstructionKind::allocate, .memory_class = memory_class}, {made});
    return made;
  }
  std::int32_t share(std::int32_t buffer) {
    ++holders(buffer);
    return buffer;
  }
  void release(std::int32_t& buffer) {
    if (buffer != no_buffer && --holders(buffer) == 0) add({.kind = InstructionKind::release}, {buffer});
    buffer = no_buffer;
  }
  /// Given up without an instruction: it is another's from here.
  void hand_over(std::int32_t buffer) {
    if (buffer != no_buffer) --holders(buffer);
  }
  void reclassify(std::int32_t buffer, MemoryClass memory_class) {
    check(buffer != no_buffer, "what is reclassified is allocated");
    add({.kind = InstructionKind::reclassify, .memory_class = memory_class}, {buffer});
  }
  void kernel(OpId op, KernelRole role, std::span<const std::int32_t> operands, bool accumulates = false) {
    add({.kind = InstructionKind::kernel, .role = role, .accumulates = accumulates, .op = op.index()}, operands);
  }
  void kernel(OpId op, KernelRole role, std::initializer_list<std::int32_t> operands, bool accumulates = false) {
    kernel(op, role, std::span(operands.begin(), operands.size()), accumulates);
  }
  void collective(OpId op, Collective kind, Axis axis, std::initializer_list<std::int32_t> operands,
                  ExchangeDirection direction = ExchangeDirection::to_experts) {
    add({.kind = InstructionKind::collective,
         .collective = kind,
         .axis = axis,
         .direction = direction,
         .op = op.index()},
        operands);
  }
  void maximum_over_ranks(OpId op, std::int32_t buffer) {
    add({.kind = InstructionKind::collective,
         .collective = Collective::all_reduce,
         .reduction = Reduction::maximum,
         .op = op.index()},
        {buffer});
  }
  [[nodiscard]] bool is_unique(std::int32_t buffer) const { return holders_[static_cast<std::size_t>(buffer)] == 1; }

 private:
  std::int32_t& holders(std::int32_t buffer) { return holders_[static_cast<std::size_t>(buffer)]; }
  void add(Instruction i, std::initializer_list<std::int32_t> operands) {
    add(i, std::span(operands.begin(), operands.size()));
  }
  void add(Instruction i, std::span<const std::int32_t> operands) {
    i.first_operand = static_cast<std::int32_t>(program_.operands.size());
    i.operand_count = static_cast<std::int32_t>(operands.size());
    program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
    pass_->push_back(i);
  }

  BlockProgram& program_;
  std::vector<Instruction>* pass_ = nullptr;
  std::vector<std::int32_t> holders_;
};

/// What the passes over a block hand to each other. By tensor or operator; none: not there.
struct BlockValues {
  BlockValues(std::size_t tensor_count, std::size_t op_count)
      : tensors(tensor_count, no_buffer), gathered(tensors), sides(op_count) {}
  std::vector<std::int32_t> tensors;
  std::vector<std::int32_t> gathered;  ///< with the rows of all tensor-parallel ranks
  std::vector<std::vector<std::int32_t>> sides;
};

/// What a product's weight gradient reads: the copy in the product's format that was kept of its input, its rows of all
/// ranks, or the input.
[[nodiscard]] inline std::int32_t product_input(const BlockValues& values, const Op& op, OpId id) {
  const auto& sides = values.sides[static_cast<std::size_t>(id.index())];
  if (op.kind != OpKind::router && !sides.empty()) return sides.front();
  const std::int32_t gathered = values.gathered[static_cast<std::size_t>(op.inputs.front().index())];
  if (gathered != no_buffer && is_column_parallel(op)) return gathered;
  return values.tensors[static_cast<std::size_t>(op.inputs.front().index())];
}

/// A linear, router or operator whose gradients of parameters wait for the weight pass.
struct DeferredWork {
  OpId op;
  std::vector<std::int32_t> buffers;
};

}  // namespace plumbline
