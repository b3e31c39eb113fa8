#pragma once
/// \file space.h: which strategies a search considers: the values of every axis, and what the user fixed.
///
/// The space is exact and stated: degrees over all ordered factorisations of the GPU count, micro-batches and recompute
/// choices from lists, every schedule with every virtual-stage count up to a limit, ZeRO stages over the whole gradient
/// group and over the part of it that lies inside one fast interconnect. Symmetric choices appear once: one stage has
/// no schedule, one rank nothing to shard, no tensor parallelism no sequence parallelism.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/strategy.h"
#include "planner/question/question.h"

namespace plumbline {

/// Empty list: the axis is free. One or more values: only these.
struct SearchSpace {
  std::vector<std::int32_t> pipeline_stages;
  std::vector<std::int32_t> tensor_parallel;
  std::vector<std::int32_t> context_parallel;
  std::vector<std::int32_t> expert_parallel;
  std::int32_t expert_tensor_parallel = 1;
  std::vector<std::int32_t> data_parallel;
  std::vector<std::int32_t> virtual_stages;
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> micro_batches_sizes;  ///< sequences in a micro-batch
  std::vector<std::int32_t> zero_stages;
  std::vector<std::int32_t> shard_groups;
  std::vector<SequenceParallel> sequence_parallel;
  std::vector<Recompute> recompute;
  FlashAttention flash_attention = FlashAttention::on;
};

/// Reads "tp=8,pp=4,zero=1|2,recompute=full|every:2" into a space. Axis names are the strategy's flags; values apart
/// by '|'. Throws InputError with the nearest axis.
[[nodiscard]] SearchSpace space_from_text(std::string_view fixes);

/// A family: everything but ZeRO, shard group and recompute, which do not change what is legal or the block costs.
struct Family {
  Strategy strategy;
};

/// Enumerates the families of a space for a question in canonical order. Illegal ones are passed with their rule.
class SpaceEnumerator {
 public:
  SpaceEnumerator(const Question& question, const SearchSpace& space);

  /// Calls `visit(strategy, violation or nullptr, leaves)` per family, in increasing order of the strategy key;
  /// `leaves` is how many plans the family stands for.
  void for_each_family(const std::function<void(const Strategy&, const Violation*, std::int64_t)>& visit) const;
  /// The plans of one family, in canonical order.
  [[nodiscard]] std::vector<Strategy> leaves(const Strategy& family) const;
  [[nodiscard]] const std::vector<Recompute>& recompute_choices() const { return recompute_; }

 private:
  [[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> zero_choices(const Strategy& family) const;
  [[nodiscard]] std::vector<std::pair<Schedule, std::int32_t>> schedule_choices(std::int32_t pipeline_stages) const;

  const Question* question_;
  SearchSpace space_;
  std::vector<Recompute> recompute_;
};

}  // namespace plumbline
