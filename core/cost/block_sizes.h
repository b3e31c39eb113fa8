#pragma once
/// \file block_sizes.h: what one block computes, keeps and sends for one micro-batch on one rank, for every way to run
/// it. No clock: a block is lowered (core/program/block_program.h), and sizes are folds over its instructions.
///
/// Answers bytes, FLOPs and counts of one rank. Model: working sets are those of the instructions (working_set.h), what
/// is kept follows rules (saved_tensors.h), what collectives send is theirs (block_sends.h) as the software stack sends
/// it. Times of the same passes are block_cost.h's. Source: Korthikanti et al., arXiv:2205.05198 (collectives per
/// layer); Liu et al., arXiv:2310.01889 (ring attention). Not modelled: expert imbalance beyond a factor.
/// Checked against: tests/property/block_cost_test.cpp (closed forms); tests/property/uncalibrated_program_test.cpp.

#include <vector>

#include "core/cost/quantisation.h"
#include "core/cost/rank_parameters.h"
#include "core/cost/stack_sizes.h"
#include "core/cost/working_set.h"
#include "core/machine/cluster.h"
#include "core/plan/rank_group.h"
#include "core/program/block_sends.h"
#include "core/program/wire_bytes.h"
#include "core/sharding/op_work.h"

namespace plumbline {

struct KeptByOperator;

/// One way to run a block: what its backward pass computes again, and what is kept for it.
struct VariantSizes {
  Bytes restored{0};           ///< how much larger the replay makes the working set of the backward
  Flops flops{0};              ///< that the replay repeats
  WireBytes wire;              ///< that the replay sends
  std::vector<bool> replayed;  ///< by op in order of execution; empty: none
  MemoryProfile memory;
  std::vector<bool> kept = {};  ///< by tensor, where a list says what is kept; empty: no list
  Bytes copied{0};              ///< by this rank to the host, and back
  ReplayPlace place = ReplayPlace::alone;
  /// Parameters that ZeRO-3 lets go of after the replay and gathers again for the gradients.
  std::int64_t regathered = 0;

  /// Whether any operator runs again.
  [[nodiscard]] bool replays() const;
};
/// Index into BlockSizes::variants. Choices of a placement follow from `first_placed` on (planner/checkpointing).
struct Variant {
  static constexpr std::int32_t kept = 0;
  static constexpr std::int32_t selective = 1;
  static constexpr std::int32_t full = 2;
  static constexpr std::int32_t by_operator = 3;
  static constexpr std::int32_t modules = 4;
  static constexpr std::int32_t offloaded = 5;
  // Full recompute of layers that are replayed as one (ReplayPlace).
  static constexpr std::int32_t replayed_first = 6;
  static constexpr std::int32_t replayed_middle = 7;
  static constexpr std::int32_t replayed_last = 8;
  static constexpr std::int32_t first_placed = 9;
};

struct BlockSizes {
  std::vector<VariantSizes> variants;
  Bytes boundary{0};                  ///< what full recompute keeps, and what a pipeline sends
  Bytes boundary_gradient{0};         ///< of the boundary; zero where nothing before the block is trained
  Bytes kept_output{0};               ///< of a boundary, what the last block of a stage holds of what it sends on
  Bytes output{0};                    ///< what the block hands to the next one; the loss apart
  Bytes attention_scratch{0};         ///< of its backward, beside tensors
  std::int64_t unturned_weights = 0;  ///< of its quantised weights, those whose products read one orientation
  bool frees_logits = false;          ///< whether logits are gone when the backward of the block before them begins
  RankParameters parameters;
  ParameterTensors tensors;
  BlockFlops flops;  ///< of the model, on this rank
  WireBytes wire_forward;
  WireBytes wire_backward;  ///< without recompute

  [[nodiscard]] WireBytes wire() const { return wire_forward + wire_backward; }
  /// Without recompute; the logits are those of every variant.
  [[nodiscard]] const MemoryProfile& memory() const { return variants.front().memory; }
  [[nodiscard]] const VariantSizes& variant(std::int32_t index) const {
    return variants[static_cast<std::size_t>(index)];
  }
};

/// Groups that a block's collectives run over.
struct BlockGroups {
  RankGroup tensor;
  RankGroup context;
  RankGroup expert;
  RankGroup expert_tensor;
  PairedPasses paired = PairedPasses::no;  ///< of the schedule: exchanges of experts run alongside another pass

  /// The group that a message goes through.
  [[nodiscard]] const RankGroup& of(const BlockSend& send) const;
};
[[nodiscard]] BlockGroups block_groups(const Strategy& strategy);

/// What a block is lowered for: a software stack, and of a machine what its ranks share. The cluster outlives it.
struct LoweringTarget {
  StackSizes stack;
  const Cluster& cluster;  ///< which ranks share a node
  OperandLayouts fp8_layouts = OperandLayouts::summed_first;
};

/// A block on a rank, lowered for any number of choices of what runs again. Everything outlives it.
struct LoweredBlock {
  const Block& block;
  const Shard& shard;
  const BlockGroups& groups;
  const LoweringTarget& target;
  KnownPrograms* known = nullptr;  ///< of the block lowered for other shards
  BlockLowering lowering = BlockLowering(block, shard, known);
};

/// A block before all that is trained has no backward, keeps nothing, and runs nothing again.
[[nodiscard]] bool runs_backward(const Block& block);

/// The messages of passes, in order, as the stack sends them.
struct PassSends {
  std::vector<BlockSend> forward;
  std::vector<BlockSend> backward;
};
struct VariantSends {
  PassSends passes;
  std::vector<BlockSend> selective;  ///< of its replay
  std::vector<BlockSend> modules;    ///< likewise
};
/// Of one pass of `program`, the program of `of`.
[[nodiscard]] std::vector<BlockSend> stack_sends(const LoweredBlock& of, const BlockProgram& program, BlockPass pass);
[[nodiscard]] PassSends pass_sends(const LoweredBlock& of, const BlockProgram& program);
/// What these messages send.
[[nodiscard]] WireBytes sent_bytes(const std::vector<BlockSend>& sends, const BlockGroups& groups);

/// The sizes of a block, and the messages that its times are made of.
struct SizedBlock {
  BlockSizes sizes;
  VariantSends sends;
};
/// Of all variants but recompute by operator, which few plans ask for: as kept.
[[nodiscard]] SizedBlock sized_block(const LoweredBlock& of);
struct SizedVariant {
  VariantSizes sizes;
  std::vector<BlockSend> sends;
};
/// `kept`: of the same block (kept_by_operator.h); `whole`: its memory where nothing is computed again.
[[nodiscard]] SizedVariant by_operator_sizes(const LoweredBlock& of, const KeptByOperator& kept,
                                             const MemoryProfile& whole);
/// All sizes of a block of a network, as the stack runs it. `known`: of the block lowered for other shards.
[[nodiscard]] BlockSizes block_sizes(const Block& block, const Shard& shard, const BlockGroups& groups,
                                     const LoweringTarget& target, KnownPrograms* known = nullptr);

/// Fills a variant's memory beyond what it saves, what its replay sends, and what it restores: more than `kept`, of
/// the block where nothing is computed again. Returns what the replay's collectives send.
std::vector<BlockSend> fold_replay(VariantSizes& variant, const LoweredBlock& of, RecomputeMode mode,
                                   const MemoryProfile& kept, BackwardForm form = BackwardForm::split);

}  // namespace plumbline
