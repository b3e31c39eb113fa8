#pragma once
/// \file rank_groups.h: where a rank is on every axis of a strategy, and its end of every group.
///
/// Answers: coordinates and communicators; no bytes. Model: a coordinate is rank / stride mod size of the axis's group
/// (core/plan/rank_group.h); ranks of one group differ in that coordinate alone.
/// Source: core/plan/rank_group.h (Megatron-LM's order tp-cp-dp-pp). Not modelled: several hosts.
/// Checked against: tests/runtime/execution (every strategy's numbers).

#include <array>
#include <memory>

#include "core/plan/rank_group.h"
#include "runtime/communication/world.h"

namespace plumbline {

/// The ranks that share everything with `rank` but its coordinate on `axis`.
[[nodiscard]] RankSet group_ranks(const Strategy& strategy, Axis axis, std::int32_t rank);

/// One rank's communicators.
class RankGroups {
 public:
  RankGroups(World& world, const Strategy& strategy);

  [[nodiscard]] Communicator& operator[](Axis axis) { return *of_axis_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int32_t index(Axis axis) const { return of_axis_[static_cast<std::size_t>(axis)]->index(); }
  [[nodiscard]] std::int32_t size(Axis axis) const {
    return of_axis_[static_cast<std::size_t>(axis)]->rank_set().size();
  }
  /// Experts' states are divided over the first, and copied over the second.
  [[nodiscard]] Communicator& expert_shard() { return *expert_shard_; }
  [[nodiscard]] Communicator& expert_replicate() { return *expert_replicate_; }
  /// Ranks of the first from which backwards gather experts; null where they gather from all of them.
  [[nodiscard]] Communicator* expert_secondary() { return expert_secondary_.get(); }
  /// Whether the strategy has groups of the axis.
  [[nodiscard]] bool has(Axis axis) const { return of_axis_[static_cast<std::size_t>(axis)] != nullptr; }
  /// Ranks that share experts, once more: how many rows they will send each other, which no prediction counts.
  [[nodiscard]] Communicator& expert_counts() { return *expert_counts_; }
  /// The same of ranks that divide them.
  [[nodiscard]] Communicator& expert_tensor_counts() { return *expert_tensor_counts_; }
  /// The ranks that divide the same experts, in a group of its own over which an optimizer gathers whole matrices.
  [[nodiscard]] Communicator& expert_matrices() { return *expert_matrices_; }
  /// The ends of a pipeline, which hold copies of a tied embedding; null where the rank is neither.
  [[nodiscard]] Communicator* ends() { return ends_.get(); }
  /// All ranks: scalars of a step (loss, norm, overflow), which no prediction counts.
  [[nodiscard]] Communicator& everyone() { return *everyone_; }
  /// All ranks once more: checksums of what several of them hold, which no prediction counts.
  [[nodiscard]] Communicator& replicas() { return *replicas_; }
  [[nodiscard]] std::int32_t rank() const { return rank_; }

 private:
  std::int32_t rank_;
  std::array<std::unique_ptr<Communicator>, all_axes.size()> of_axis_;
  std::unique_ptr<Communicator> expert_shard_;
  std::unique_ptr<Communicator> expert_replicate_;
  std::unique_ptr<Communicator> expert_secondary_;
  std::unique_ptr<Communicator> expert_counts_;
  std::unique_ptr<Communicator> expert_tensor_counts_;
  std::unique_ptr<Communicator> expert_matrices_;
  std::unique_ptr<Communicator> ends_;
  std::unique_ptr<Communicator> everyone_;
  std::unique_ptr<Communicator> replicas_;
};

}  // namespace plumbline
