#pragma once
/// \file block_cost.h: what one block takes for one micro-batch on one rank, for every way to run it, beside its sizes.
///
/// Answers picoseconds, which are added to what block_sizes.h answers. Model: kernels one after another
/// (kernel_time.h), the host's time to launch them apart, and the collectives of the block's instructions
/// (core/program/block_sends.h); the exposed share of each is a property of the software stack.
/// Source: Korthikanti et al., arXiv:2205.05198 (collectives per layer); Liu et al., arXiv:2310.01889 (ring attention);
/// exposures and factors from the stack calibration.
/// Not modelled: overlap that depends on what runs alongside, expert imbalance beyond a factor.
/// Checked against: tests/property/block_cost_test.cpp; whole steps in tests/reference/korthikanti_step_time_test.cpp.

#include <utility>
#include <vector>

#include "core/cost/block_sizes.h"
#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"
#include "core/cost/primitive_operators.h"
#include "core/cost/time_limits.h"

namespace plumbline {

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

/// What one way to run a block takes beyond the block's own passes.
struct VariantTimes {
  PhaseTime recompute;
  Picoseconds host{0};  ///< until the host has launched the replay
  CopyTimes copies = {};
};

struct BlockTimes {
  std::vector<VariantTimes> variant_times;  ///< by variant (BlockSizes::variants)
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
  Picoseconds orthogonalisation{0};  ///< of its trained matrices, each once (optimizer_time.h)

  [[nodiscard]] const VariantTimes& times(std::int32_t variant) const {
    return variant_times[static_cast<std::size_t>(variant)];
  }
};

/// What a block holds and sends, and what it takes.
struct BlockCost : BlockSizes, BlockTimes {
  void add_variant(VariantSizes sizes, const VariantTimes& times) {
    variants.push_back(std::move(sizes));
    variant_times.push_back(times);
  }
};

/// What the collectives of one pass over a block take.
struct CollectiveTimes {
  Seconds tensor{0};
  Seconds context{0};
  Seconds expert{0};
  double launches = 0;  ///< by the host
};

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
  /// What it lowers blocks for; the pricer outlives it.
  [[nodiscard]] LoweringTarget target() const;
  [[nodiscard]] const KernelClock& kernels() const { return kernels_; }
  [[nodiscard]] const CommunicationClock& communication() const { return communication_; }
  /// Of one device to its host; zero where it is its own.
  [[nodiscard]] BytesPerSecond to_host() const { return to_host_; }

 private:
  struct Times;
  void add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const;
  void add_launches(Times& times, const Block& block, const Op& op, const OpWork& work, NumberFormat format,
                    const Shard& shard) const;
  void add_by_operator_as_run(BlockCost& cost, const LoweredBlock& of) const;
  /// The times of `sized`, which is of the same block.
  [[nodiscard]] BlockTimes times_of(const LoweredBlock& of, const SizedBlock& sized) const;
  /// The passes of a block, and its waits, alone.
  [[nodiscard]] BlockTimes pass_times(Times& times, const LoweredBlock& of, const PassSends& sends) const;
  [[nodiscard]] BlockCost price_as_run(const LoweredBlock& of) const;
  [[nodiscard]] Picoseconds host_time(double kernels, double collectives) const;
  [[nodiscard]] CollectiveTimes collectives(const LoweredBlock& of, const std::vector<BlockSend>& sends,
                                            BlockPass pass) const;
  void add_tensor(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send, BlockPass pass) const;
  void add_context(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send, BlockPass pass) const;
  void add_head_exchange(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send) const;
  void add_expert(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send) const;
  [[nodiscard]] PhaseTime phase(Seconds compute, const CollectiveTimes& collectives) const;
  /// One for each of the sizes of `sized`; of recompute by operator none.
  [[nodiscard]] std::vector<VariantTimes> variant_times(const BlockTimes& passes, const Times& times,
                                                        const LoweredBlock& of, const SizedBlock& sized) const;
  [[nodiscard]] VariantTimes times_of_modules(const Times& times, const LoweredBlock& of,
                                              const SizedBlock& sized) const;

  KernelClock kernels_;
  OperatorPasses passes_;
  CommunicationClock communication_;
  BytesPerSecond to_host_;  ///< of one device
};

}  // namespace plumbline
