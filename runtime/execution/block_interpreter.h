#pragma once
/// \file block_interpreter.h: runs the instructions of a block's program on real numbers.
///
/// Model: allocates, releases, calls kernels (kernel_call.h) and communicators as the instructions say, in their order;
/// decides nothing. Collectives of tensor-parallel ranks are work of their lane; an instruction that names one waits
/// for it. Tensors of routed rows are as long as the routing makes them (expert_routes.h). Source:
/// core/program/block_program.h, block_lanes.h. Checked against: tests/runtime/execution (PyTorch's numbers; bytes of
/// core/cost).

#include "runtime/execution/kernel_call.h"

namespace plumbline {

class BlockInterpreter {
 public:
  BlockInterpreter(const KernelParts& parts, const Block& block, const BlockProgram& program, std::int32_t execution,
                   BlockState& state);

  /// `inputs`: of the block, in its order; they count as activations from here where they are kept.
  void accept_inputs(std::vector<BufferRef> inputs);
  /// Returns the block's outputs (the loss apart).
  std::vector<BufferRef> forward();
  /// `inputs`: where the replay of the block before gave them. Returns what is handed on to the next one's.
  std::vector<BufferRef> recompute(std::vector<BufferRef> inputs);
  /// `pass`: backward or backward_input. `output_gradients`: as `forward` returned the outputs. Returns the gradients
  /// of the inputs; nothing where one is not needed. What the forward kept stays with the state.
  std::vector<BufferRef> backward(BlockPass pass, std::vector<BufferRef> output_gradients);
  /// After the input gradients of a split backward were transferred on.
  void keep_for_weights() { run(BlockPass::keep_for_weights); }
  void backward_weight() { run(BlockPass::weight); }

 private:
  void run(BlockPass pass);
  void run(const Instruction& instruction);
  /// On the tensor lane. `is_waited_for`: what follows reads it at once.
  void communicate(std::int32_t place, const Instruction& instruction, bool is_waited_for);
  void give(const KernelCall& call);
  /// Compute goes on behind the collective with this place in the pass.
  void wait_for(std::int32_t place);
  [[nodiscard]] BufferRef& buffer(std::int32_t id) { return state_.buffers[static_cast<std::size_t>(id)]; }

  const KernelParts& parts_;
  const Block& block_;
  const BlockProgram& program_;
  std::int32_t execution_;
  BlockState& state_;
  /// Given to the tensor lane, not waited for.
  struct Running {
    std::int32_t place = 0;
    Mark end;
  };
  std::vector<Running> running_;  ///< in their order
};

}  // namespace plumbline
