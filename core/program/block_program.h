#pragma once
/// \file block_program.h: what a rank does with one block for one micro-batch, as straight lists of instructions.
///
/// Answers: for each pass over a block (forward, recompute, backward, a split backward and its weight gradients) which
/// kernels run, which collectives, and when each buffer is allocated and released. The one description that memory is
/// counted from (core/cost/working_set.h) and that the runtime interprets (runtime/execution/block_interpreter.h).
/// Model: operators in order of execution, or against it. A value is allocated before the operator that makes it; what
/// is not kept is released behind its last reader, a block's outputs by whoever reads them. A gradient is allocated
/// when the first reader's backward makes it, a second contribution alongside it, and released behind the operator that
/// made the value; a sum of two hands its gradient on without a copy. Nothing is computed in place but collectives and
/// the gradient of the logits. What column-parallel linears read is gathered once (sequence parallelism), its gradient
/// summed over ranks once.
/// Source: Megatron-LM, arXiv:1909.08053 and arXiv:2205.05198 (where tensor-parallel ranks communicate); PyTorch's
/// autograd (reference counts). Not modelled: scratch of kernels; fused or in-place operators.
/// Checked against: tests/unit/core/program/block_program_test.cpp; tests/runtime/execution (executed bytes and
/// PyTorch's numbers).

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/plan/axis.h"
#include "core/plan/estimate.h"
#include "core/sharding/collective.h"
#include "core/sharding/keep_rule.h"

namespace plumbline {

enum class BlockPass : std::uint8_t {
  forward,
  recompute,         ///< before the backward that reads what it makes again
  backward,          ///< gradients of inputs and of weights
  backward_input,    ///< gradients of inputs alone
  keep_for_weights,  ///< behind it: what `weight` does not read is released
  weight             ///< the gradients of weights that backward_input put off
};
inline constexpr std::size_t block_pass_count = 6;

enum class InstructionKind : std::uint8_t { allocate, release, reclassify, kernel, collective };

/// What a kernel computes of its operator. Operands in order, where -1 stands for a tensor that is not there:
/// `in` and `out` are the operator's inputs and outputs, a gradient has the place of its tensor, `side` is what the
/// operator makes alongside its outputs.
enum class KernelRole : std::uint8_t {
  forward,            ///< in, out, side
  add_bias,           ///< out: of a row-parallel linear, behind the sum over ranks
  ring_forward,       ///< in, out, side, keys and values that travel or are all ranks'; of a ring parts of out and side
  loss_maximum,       ///< logits, maxima, sums
  loss_sum,           ///< the same
  loss_gradient,      ///< the same
  route,              ///< probabilities: who goes where, for the kernels below; tells the experts' ranks how many come
  permute,            ///< in, rows by expert
  unpermute,          ///< the gradient of permute: gradients of rows, gradient of in
  sort_arrivals,      ///< rows by rank, rows by expert
  unsort_arrivals,    ///< rows by expert, rows by rank
  weigh,              ///< rows, out: what experts return, weighted and summed
  weigh_gradient,     ///< gradient of out, rows, gradient of rows, gradient of probabilities
  backward,           ///< gradients of out, in, out, side, gradients of in
  deferred_backward,  ///< the same, then gradients of parameters that are added later
  ring_backward,      ///< the same, keys and values that travel or are all ranks', their gradients
  input_gradient,     ///< gradients of out, gradient of in
  weight_gradient,    ///< in, gradients of out
  pack_heads,         ///< rows with all heads, the same by the rank that gets them
  unpack_heads,       ///< rows by the rank that they came from, the same with all heads
  add_deferred,       ///< gradients of parameters that deferred_backward made
  accumulate          ///< two contributions to a gradient, their sum
};
[[nodiscard]] std::string_view to_text(KernelRole role);

/// Of an all-to-all among expert-parallel ranks: whether rows go to their experts or come back to their tokens.
enum class ExchangeDirection : std::uint8_t { to_experts, to_tokens };

struct Instruction {
  InstructionKind kind = InstructionKind::kernel;
  KernelRole role = KernelRole::forward;
  Collective collective = Collective::all_reduce;
  Reduction reduction = Reduction::sum;
  Axis axis = Axis::tensor;  ///< of the collective's group
  ExchangeDirection direction = ExchangeDirection::to_experts;
  MemoryClass memory_class = MemoryClass::working_buffers;  ///< that a buffer counts as from here
  bool accumulates = false;                                 ///< the kernel adds to what its last operand holds
  std::int32_t op = -1;                                     ///< of the block
  /// The last collective of the pass, by its place in it, that has to be over before this begins (block_lanes.h); -1:
  /// none.
  std::int32_t waits_for = -1;
  std::int32_t first_operand = 0;
  std::int32_t operand_count = 0;
};

/// How many rows of its tensor a buffer holds. `local`: as the rank has the tensor. `whole`: with the rows of all ranks
/// that divide the tokens. `chosen`: one for each choice of the rank's own tokens. `none`: bytes that are no tensor's.
enum class BufferRows : std::uint8_t { local, whole, chosen, none };

/// What bytes that are no tensor's are: one of an operator's sides, keys and values on a ring, the loss's maxima or its
/// sums with the targets' logits, or gradients of parameters that are added later.
enum class BufferContent : std::uint8_t { tensor, side, travelling, maxima, sums, parameter_gradients };

struct BlockBuffer {
  TensorId like = {};  ///< whose columns and format it has
  BufferRows rows = BufferRows::local;
  BufferContent content = BufferContent::tensor;
  std::int32_t side = 0;          ///< which of the operator's
  OpId op = {};                   ///< whose content it is, where that is no tensor
  std::int32_t like_buffer = -1;  ///< another buffer that has as many bytes; -1: none
  Bytes bytes{0};                 ///< on one rank; of tensors of routed rows, where every expert gets equally many
};

/// Buffers and operands are those of all passes; a buffer that one pass leaves allocated is there for the next.
struct BlockProgram {
  std::vector<BlockBuffer> buffers;
  std::vector<std::int32_t> operands;
  std::array<std::vector<Instruction>, block_pass_count> passes;
  std::vector<std::int32_t> inputs;     ///< buffers that the forward is given, by input of the block
  std::vector<std::int32_t> constants;  ///< kept tensors that no operator makes: data of networks built by hand
  std::vector<std::int32_t> outputs;    ///< that it leaves to the next block; none of the block with the loss
  /// Of `backward` and of `backward_input`; -1: none. A recompute before them finds the first ones there.
  std::array<std::vector<std::int32_t>, 2> output_gradients;
  std::array<std::vector<std::int32_t>, 2> input_gradients;
  // Of blocks that are replayed in a row (ReplayPlace): what the replay of the one before gives, and what it hands on.
  std::vector<std::int32_t> replay_inputs;
  std::vector<std::int32_t> replay_outputs;
  std::vector<bool> restores_output;  ///< by output: the block holds what is handed on, too
  std::vector<bool> keeps_input;      ///< by input: counts as an activation from here
  std::vector<bool> keeps_output;     ///< by output: the block holds it too

  [[nodiscard]] const std::vector<Instruction>& pass(BlockPass p) const { return passes[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::vector<Instruction>& pass(BlockPass p) { return passes[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::span<const std::int32_t> operands_of(const Instruction& i) const {
    return std::span(operands).subspan(static_cast<std::size_t>(i.first_operand),
                                       static_cast<std::size_t>(i.operand_count));
  }
  /// What a backward is given, by output of the block.
  [[nodiscard]] const std::vector<std::int32_t>& output_gradients_of(BlockPass backward) const {
    return output_gradients[backward == BlockPass::backward ? 0 : 1];
  }
  /// What it leaves, by input of the block.
  [[nodiscard]] const std::vector<std::int32_t>& input_gradients_of(BlockPass backward) const {
    return input_gradients[backward == BlockPass::backward ? 0 : 1];
  }
};

/// Whether a schedule may put weight gradients off: `whole` leaves out what only split backwards have.
enum class BackwardForm : std::uint8_t { whole, split };

class BlockFacts;
class KnownPrograms;

/// Lowers one block on one rank for any number of choices of what runs again. Block and shard outlive it.
class BlockLowering {
 public:
  /// `known`: what has the same instructions is lowered once, and has its own sizes; may be shared by threads.
  BlockLowering(const Block& block, const Shard& shard, KnownPrograms* known = nullptr);
  /// Linear in the operators.
  [[nodiscard]] BlockProgram lower(const Replay& replay, BackwardForm form = BackwardForm::split) const;
  /// The same; a known program of the same sizes is shared.
  [[nodiscard]] std::shared_ptr<const BlockProgram> shared(const Replay& replay,
                                                           BackwardForm form = BackwardForm::split) const;
  /// `program` of the same block for a shard that differs in lengths or rows alone, in the sizes of this one.
  [[nodiscard]] BlockProgram in_sizes(BlockProgram program) const;
  /// What the block keeps when nothing is recomputed.
  [[nodiscard]] const std::vector<SavedTensor>& saved() const { return saved_; }

 private:
  friend class BlockFacts;
  // Without sizes; the first without waits too.
  [[nodiscard]] BlockProgram lower_in_order(const BlockFacts& facts, BackwardForm form) const;
  [[nodiscard]] BlockProgram lower(const BlockFacts& facts, BackwardForm form) const;
  /// The program of a shard with the same instructions, with its sizes: one that is known, or this shard's.
  [[nodiscard]] std::shared_ptr<const BlockProgram> known(const BlockFacts& facts, const Replay& replay,
                                                          BackwardForm form) const;
  /// All that instructions depend on besides the block, what runs again, and the form of the backward.
  [[nodiscard]] std::vector<std::int32_t> shape() const;

  struct TensorFacts {
    Bytes bytes{0};
    bool is_sliced = false;
    bool is_logits = false;
  };
  const Block& block_;
  const Shard& shard_;
  KnownPrograms* known_;
  std::vector<SavedTensor> saved_;
  std::vector<TensorFacts> tensors_;
  std::vector<std::vector<Bytes>> sides_;  ///< by op
  std::vector<std::int32_t> position_;     ///< by op: in order of execution
};

/// "allocate 3", "linear forward attention.qkv: 0 -> ...": one line for each instruction, for tests and people;
/// `whole`: without passes that only split backwards have.
[[nodiscard]] std::string to_text(const BlockProgram& program, const Block& block,
                                  BackwardForm form = BackwardForm::split);

}  // namespace plumbline
