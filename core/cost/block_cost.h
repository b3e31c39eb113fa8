#pragma once
/// \file block_cost.h: time and memory of one block for one micro-batch on one rank, for every way to run it.
///
/// Model: kernels one after another (kernel_time.h), the host's time to launch them apart, collectives between
/// tensor-parallel regions (tensor_parallel_points.h), ring attention for context parallelism, all-to-alls for experts;
/// the exposed share of each collective is a property of the software stack.
/// Source: Korthikanti et al., arXiv:2205.05198 (collectives per layer); Liu et al., arXiv:2310.01889 (ring attention);
/// exposures and factors from the stack calibration.
/// Not modelled: overlap that depends on what runs beside, expert imbalance beyond a factor.
/// Checked against: tests/property/block_cost_test.cpp; whole steps in tests/reference/korthikanti_step_time_test.cpp.

#include <functional>
#include <vector>

#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"
#include "core/cost/placement.h"
#include "core/cost/rank_parameters.h"
#include "core/cost/working_set.h"
#include "core/program/wire_bytes.h"

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

/// One way to run a block: what its backward pass computes again, and what is kept for it.
struct BlockVariant {
  PhaseTime recompute;
  Bytes saved{0};              ///< per micro-batch in flight
  Bytes restored{0};           ///< how much larger the replay makes the working set of the backward
  Flops flops{0};              ///< that the replay repeats
  WireBytes wire;              ///< that the replay sends
  Picoseconds host{0};         ///< until the host has launched the replay
  std::vector<bool> replayed;  ///< by op in order of execution; empty: none
  WorkingSets working;
  Bytes on_host{0};             ///< as `saved`, in host memory, of the tensor-parallel ranks together
  std::vector<bool> kept = {};  ///< by tensor, where a list says what is kept; empty: no list
};
/// Index into BlockCost::variants. Choices of a placement stand from `first_placed` on (planner/checkpointing).
struct Variant {
  static constexpr std::int32_t kept = 0;
  static constexpr std::int32_t selective = 1;
  static constexpr std::int32_t full = 2;
  static constexpr std::int32_t by_operator = 3;
  static constexpr std::int32_t modules = 4;
  static constexpr std::int32_t offloaded = 5;
  static constexpr std::int32_t first_placed = 6;
};

struct BlockCost {
  PhaseTime forward;
  PhaseTime backward;  ///< input and weight gradients, no recompute
  // Until the host has launched all of it: what a stage does with it is stage_cost.h's.
  Picoseconds host_forward{0};
  Picoseconds host_backward{0};
  double transfer_synchronisation = 0;  ///< of the stack: whether messages between stages hold the host up
  double pass_synchronisation = 0;      ///< of the stack: whether the end of a pass does
  /// Of backward's compute, what a schedule may put off: products for weight gradients, and what an operator that has
  /// no other gradient spends.
  Picoseconds backward_weight{0};
  std::vector<BlockVariant> variants;
  Bytes boundary{0};           ///< what full recompute keeps, and what a pipeline sends
  Bytes boundary_gradient{0};  ///< of the boundary; zero where nothing before the block is trained
  Bytes kept_output{0};        ///< of a boundary, what the last block of a stage holds of what it sends on
  Bytes output{0};             ///< what the block hands to the next one; the loss apart
  Bytes working{0};            ///< of a backward that replays nothing (working_set.h)
  bool frees_logits = false;   ///< whether logits are gone when the backward of the block before them begins
  Bytes logits{0};             ///< logits and what the loss makes of them
  RankParameters parameters;
  ParameterTensors tensors;
  BlockFlops flops;                  ///< of the model, on this rank
  Picoseconds orthogonalisation{0};  ///< of its trained matrices, each once (optimizer_time.h)
  WireBytes wire;                    ///< forward and backward, without recompute
  WireBytes wire_forward;            ///< of `wire`, what the forward pass sends

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
};
[[nodiscard]] BlockGroups block_groups(const Strategy& strategy);

/// Fills a variant's working sets, and with `working` of its block what it restores.
void set_working_sets(BlockVariant& variant, const WorkingSetModel& model, RecomputeMode mode, Bytes working,
                      BackwardForm form = BackwardForm::split);

class BlockPricer {
 public:
  BlockPricer(const Cluster& cluster, const Calibration& calibration);

  [[nodiscard]] BlockCost price(const Block& block, const Shard& shard, const BlockGroups& groups) const;
  [[nodiscard]] const KernelClock& kernels() const { return kernels_; }
  [[nodiscard]] const CommunicationClock& communication() const { return communication_; }

 private:
  struct Times;
  void add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const;
  void add_launches(Times& times, const Op& op, const OpWork& work, NumberFormat format, const Shard& shard) const;
  [[nodiscard]] Picoseconds host_time(double kernels, double collectives) const;
  /// Which operators' collectives are counted; empty: all.
  using OpFilter = std::function<bool(OpId)>;
  void add_tensor_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                           const OpFilter& counts = {}) const;
  void add_context_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                            const OpFilter& counts = {}) const;
  void add_expert_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                           const OpFilter& counts = {}) const;
  [[nodiscard]] BlockVariant with_modules(const Times& times, const Block& block, const Shard& shard,
                                          const BlockGroups& groups, const BlockCost& cost) const;
  [[nodiscard]] Times collectives_of(const Block& block, const Shard& shard, const BlockGroups& groups,
                                     const std::vector<bool>& replayed) const;

  KernelClock kernels_;
  CommunicationClock communication_;
  BytesPerSecond to_host_;  ///< of one device
};

}  // namespace plumbline
