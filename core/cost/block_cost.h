#pragma once
/// \file block_cost.h: time and memory of one block for one micro-batch on one rank, for every way to run it.
///
/// Model: kernels one after another (kernel_time.h), the host's time to launch them apart, and the collectives of the
/// block's instructions (core/program/block_sends.h), in time and in bytes; the exposed share of each is a property of
/// the software stack.
/// Source: Korthikanti et al., arXiv:2205.05198 (collectives per layer); Liu et al., arXiv:2310.01889 (ring attention);
/// exposures and factors from the stack calibration.
/// Not modelled: overlap that depends on what runs alongside, expert imbalance beyond a factor.
/// Checked against: tests/property/block_cost_test.cpp; whole steps in tests/reference/korthikanti_step_time_test.cpp.

#include <vector>

#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"
#include "core/cost/primitive_operators.h"
#include "core/cost/rank_parameters.h"
#include "core/cost/time_limits.h"
#include "core/cost/working_set.h"
#include "core/plan/rank_group.h"
#include "core/program/block_sends.h"
#include "core/program/wire_bytes.h"

namespace plumbline {

struct KeptByOperator;

/// Time on a rank by what it is spent on.
struct PhaseTime {
  Picoseconds compute{0};
  Picoseconds tensor_parallel{0};
  Picoseconds context_parallel{0};
  Picoseconds expert_parallel{0};

  PhaseTime& operator+=(const PhaseTime& other) {
    add_phase(compute, other.compute);
    add_phase(tensor_parallel, other.tensor_parallel);
    add_phase(context_parallel, other.context_parallel);
    add_phase(expert_parallel, other.expert_parallel);
    return *this;
  }
  [[nodiscard]] Picoseconds total() const { return compute + tensor_parallel + context_parallel + expert_parallel; }
  bool operator==(const PhaseTime&) const = default;
};

/// What copies to host memory after the forward pass, and back before the backward pass, take beyond the compute that
/// they run alongside.
struct CopyTimes {
  Picoseconds forward{0};
  Picoseconds backward{0};
  [[nodiscard]] Picoseconds total() const { return forward + backward; }
  bool operator==(const CopyTimes&) const = default;
};

/// One way to run a block: what its backward pass computes again, and what is kept for it.
struct BlockVariant {
  PhaseTime recompute;
  Bytes restored{0};           ///< how much larger the replay makes the working set of the backward
  Flops flops{0};              ///< that the replay repeats
  WireBytes wire;              ///< that the replay sends
  Picoseconds host{0};         ///< until the host has launched the replay
  std::vector<bool> replayed;  ///< by op in order of execution; empty: none
  MemoryProfile memory;
  std::vector<bool> kept = {};  ///< by tensor, where a list says what is kept; empty: no list
  CopyTimes copies = {};
  Bytes copied{0};  ///< by this rank to the host, and back
  ReplayPlace place = ReplayPlace::alone;
  /// Parameters that ZeRO-3 lets go of after the replay and gathers again for the gradients.
  std::int64_t regathered = 0;
};
/// Index into BlockCost::variants. Choices of a placement follow from `first_placed` on (planner/checkpointing).
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

struct BlockCost {
  PhaseTime forward;
  PhaseTime backward;  ///< input and weight gradients, no recompute
  // Until the host has launched all of it: what a stage does with it is stage_cost.h's.
  Picoseconds host_forward{0};
  Picoseconds host_backward{0};
  Picoseconds host_backward_weight{0};  ///< of host_backward: the kernels of `backward_weight`
  bool waits_for_transfers = false;     ///< of the stack: whether messages between stages hold the host up
  bool waits_for_passes = false;        ///< of the stack: whether the end of a pass does
  /// Of backward's compute, what a schedule may put off: products for weight gradients, and what an operator that has
  /// no other gradient spends.
  Picoseconds backward_weight{0};
  std::vector<BlockVariant> variants;
  Bytes boundary{0};                  ///< what full recompute keeps, and what a pipeline sends
  Bytes boundary_gradient{0};         ///< of the boundary; zero where nothing before the block is trained
  Bytes kept_output{0};               ///< of a boundary, what the last block of a stage holds of what it sends on
  Bytes output{0};                    ///< what the block hands to the next one; the loss apart
  Bytes attention_scratch{0};         ///< of its backward, beside tensors
  std::int64_t unturned_weights = 0;  ///< of its quantised weights, those whose products read one orientation
  bool frees_logits = false;          ///< whether logits are gone when the backward of the block before them begins
  RankParameters parameters;
  ParameterTensors tensors;
  BlockFlops flops;                  ///< of the model, on this rank
  Picoseconds orthogonalisation{0};  ///< of its trained matrices, each once (optimizer_time.h)
  WireBytes wire_forward;
  WireBytes wire_backward;  ///< without recompute

  [[nodiscard]] WireBytes wire() const { return wire_forward + wire_backward; }
  /// Without recompute; the logits are those of every variant.
  [[nodiscard]] const MemoryProfile& memory() const { return variants.front().memory; }
  [[nodiscard]] const BlockVariant& variant(std::int32_t index) const {
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
};
[[nodiscard]] BlockGroups block_groups(const Strategy& strategy);

/// What the collectives of one pass over a block take.
struct CollectiveTimes {
  Seconds tensor{0};
  Seconds context{0};
  Seconds expert{0};
  double launches = 0;  ///< by the host
  WireBytes wire;
};

/// A block on a rank, lowered for any number of choices of what runs again. Everything outlives it.
struct PricedBlock {
  const Block& block;
  const Shard& shard;
  const BlockGroups& groups;
  KnownPrograms* known = nullptr;
  BlockLowering lowering = BlockLowering(block, shard, known);
};

/// A block before all that is trained has no backward, keeps nothing, and runs nothing again.
[[nodiscard]] bool runs_backward(const Block& block);

struct ForwardCost {
  PhaseTime time;
  Picoseconds host{0};
};

class BlockPricer {
 public:
  BlockPricer(const Cluster& cluster, const Calibration& calibration);

  [[nodiscard]] BlockCost price(const Block& block, const Shard& shard, const BlockGroups& groups) const;
  /// Of that, what its forward takes on the device and until the host has launched it.
  [[nodiscard]] ForwardCost price_forward(const Block& block, const Shard& shard, const BlockGroups& groups) const;
  /// The same with what is kept in place of recompute by operator, which few plans ask for; and that, put in.
  /// `known`: of the block lowered for other shards.
  [[nodiscard]] BlockCost price_without_by_operator(const Block& block, const Shard& shard, const BlockGroups& groups,
                                                    KnownPrograms* known = nullptr) const;
  void add_by_operator(BlockCost& cost, const Block& block, const Shard& shard, const BlockGroups& groups,
                       KnownPrograms* known = nullptr) const;
  /// Fills a variant's memory beyond what it saves, what its replay sends, and what it restores: more than `kept`, of
  /// the block where nothing is computed again. Returns what the replay's collectives take.
  CollectiveTimes fold_replay(BlockVariant& variant, const PricedBlock& of, RecomputeMode mode,
                              const MemoryProfile& kept, BackwardForm form = BackwardForm::split) const;
  [[nodiscard]] const KernelClock& kernels() const { return kernels_; }
  [[nodiscard]] const CommunicationClock& communication() const { return communication_; }
  /// Of one device to its host; zero where it is its own.
  [[nodiscard]] BytesPerSecond to_host() const { return to_host_; }

 private:
  struct Times;
  void add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const;
  void add_launches(Times& times, const Block& block, const Op& op, const OpWork& work, NumberFormat format,
                    const Shard& shard) const;
  void add_by_operator_as_run(BlockCost& cost, const PricedBlock& of) const;
  /// The passes of a block, and its waits, alone.
  [[nodiscard]] BlockCost price_passes(Times& times, const PricedBlock& of) const;
  [[nodiscard]] BlockCost price_as_run(const Block& block, const Shard& shard, const BlockGroups& groups,
                                       KnownPrograms* known) const;
  [[nodiscard]] Picoseconds host_time(double kernels, double collectives) const;
  [[nodiscard]] CollectiveTimes collectives(const PricedBlock& of, const BlockProgram& program, BlockPass pass) const;
  void add_tensor(CollectiveTimes& times, const PricedBlock& of, const BlockSend& send, BlockPass pass) const;
  void add_context(CollectiveTimes& times, const PricedBlock& of, const BlockSend& send, BlockPass pass) const;
  void add_head_exchange(CollectiveTimes& times, const PricedBlock& of, const BlockSend& send) const;
  void add_expert(CollectiveTimes& times, const PricedBlock& of, const BlockSend& send) const;
  void add_passes(BlockCost& cost, Times& times, const PricedBlock& of, Bytes logits) const;
  [[nodiscard]] PhaseTime phase(Seconds compute, const CollectiveTimes& collectives) const;
  /// Of `full`, in a row of layers; as `full` where the strategy has none.
  [[nodiscard]] BlockVariant in_row(const BlockCost& cost, const PricedBlock& of, ReplayPlace place) const;
  void add_ruled_variants(BlockCost& cost, const Times& times, const PricedBlock& of) const;
  [[nodiscard]] BlockVariant by_operator(const BlockCost& cost, const PricedBlock& of, const KeptByOperator& kept,
                                         double replayed) const;
  [[nodiscard]] BlockVariant with_modules(const BlockCost& cost, const Times& times, const PricedBlock& of) const;

  KernelClock kernels_;
  OperatorPasses passes_;
  CommunicationClock communication_;
  BytesPerSecond to_host_;  ///< of one device
};

}  // namespace plumbline
