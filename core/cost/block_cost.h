#pragma once
/// \file block_cost.h: time and memory of one block for one micro-batch on one rank, under every recompute mode.
///
/// Model: kernels one after another (kernel_time.h), the host's launch time where it is longer, collectives between
/// tensor-parallel regions (tensor_parallel_points.h), ring attention for context parallelism, all-to-alls for experts;
/// the exposed share of each collective is a property of the software stack.
/// Source: Korthikanti et al., arXiv:2205.05198 (collectives per layer); Liu et al., arXiv:2310.01889 (ring attention);
/// exposures and factors from the stack calibration.
/// Not modelled: overlap that depends on what runs beside, expert imbalance beyond a factor.
/// Checked against: tests/property/block_cost_test.cpp; whole steps in tests/reference/korthikanti_step_time_test.cpp.

#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"
#include "core/cost/placement.h"
#include "core/cost/rank_parameters.h"
#include "core/cost/saved_tensors.h"

namespace plumbline {

/// Time on a rank by what it is spent on.
struct PhaseTime {
  Picoseconds compute{0};
  Picoseconds tensor_parallel{0};
  Picoseconds context_parallel{0};
  Picoseconds expert_parallel{0};

  PhaseTime& operator+=(const PhaseTime& other);
  [[nodiscard]] Picoseconds total() const { return compute + tensor_parallel + context_parallel + expert_parallel; }
  bool operator==(const PhaseTime&) const = default;
};

/// Bytes that one rank sends per micro-batch inside a block, by group.
struct WireBytes {
  Bytes tensor{0};
  Bytes context{0};
  Bytes expert{0};

  WireBytes& operator+=(const WireBytes& other);
  [[nodiscard]] WireBytes operator*(std::int64_t count) const {
    return {tensor * count, context * count, expert * count};
  }
};

struct BlockCost {
  PhaseTime forward;
  PhaseTime backward;  ///< input and weight gradients, no recompute
  PhaseTime recompute_selective;
  PhaseTime recompute_full;
  Bytes saved{0};  ///< nothing recomputed
  Bytes saved_selective{0};
  Bytes boundary{0};  ///< what full recompute keeps, and what a pipeline sends
  Bytes working{0};   ///< inputs, outputs and their gradients of the largest operator
  Bytes logits{0};    ///< logits and what the loss makes of them
  RankParameters parameters;
  BlockFlops flops;            ///< of the model, on this rank
  WireBytes wire;              ///< forward and backward, without recompute
  WireBytes wire_forward;      ///< of `wire`, what the forward pass sends
  Flops attention_forward{0};  ///< what selective recompute repeats
};

/// Groups that a block's collectives run over.
struct BlockGroups {
  RankGroup tensor;
  RankGroup context;
  RankGroup expert;
  RankGroup expert_tensor;
};
[[nodiscard]] BlockGroups block_groups(const Strategy& strategy);

class BlockPricer {
 public:
  BlockPricer(const Cluster& cluster, const Calibration& calibration);

  [[nodiscard]] BlockCost price(const Block& block, const Shard& shard, const BlockGroups& groups) const;
  [[nodiscard]] const KernelClock& kernels() const { return kernels_; }
  [[nodiscard]] const CommunicationClock& communication() const { return communication_; }

 private:
  struct Times;
  void add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const;
  void add_tensor_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups) const;
  void add_context_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups) const;
  void add_expert_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups) const;

  KernelClock kernels_;
  CommunicationClock communication_;
};

}  // namespace plumbline
