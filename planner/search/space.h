#pragma once
/// \file space.h: which strategies a search considers: the values of every axis, and what the user fixed.
///
/// The space is exact and stated: degrees over all ordered factorisations of the GPU count; micro-batches of 1, 2, 4,
/// ... sequences while memory could hold what the layers keep of them at least, and where such a size does not divide a
/// rank's part of the batch, the largest size below its double that does; recompute choices from a list; GPipe, 1F1B
/// and interleaved 1F1B with every virtual-stage count up to 16 that splits the layers evenly, and up to 4 where they
/// do not divide (core/plan/stage_split.h), or those that are named; the schedules that split the backward where they
/// are asked for; ZeRO stages over the whole gradient group and over the part of it that lies inside one fast
/// interconnect; experts undivided unless that is asked for; layers split by rule, and where that is asked for also
/// levelled. Symmetric choices appear once: one stage has no schedule,
/// one rank nothing to shard, no tensor parallelism no sequence parallelism, undivided sequences nothing to exchange.
/// What lies between the values of an axis is tried around the best plans (variants.h).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/strategy.h"
#include "planner/question/question.h"
#include "planner/question/stop_request.h"

namespace plumbline {

/// The most virtual stages that a search tries where none are named.
inline constexpr std::int32_t most_virtual_stages = 16;

/// Empty list: the axis is free. One or more values: only these.
struct SearchSpace {
  std::vector<std::int32_t> pipeline_stages;
  std::vector<std::int32_t> tensor_parallel;
  std::vector<std::int32_t> context_parallel;
  std::vector<ContextCommunication> context_communication;  ///< where sequences are divided; empty: ring
  std::vector<std::int32_t> expert_parallel;
  std::vector<std::int32_t> expert_tensor_parallel;  ///< empty: 1, and around the best plans every other
  std::vector<std::int32_t> data_parallel;
  std::vector<std::int32_t> virtual_stages;
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> micro_batch_sizes;  ///< sequences in a micro-batch
  std::vector<std::int32_t> zero_stages;
  std::vector<std::int32_t> shard_groups;
  std::vector<ParameterPrefetch> prefetch;    ///< of ZeRO-3; empty: on, and around the best plans off
  std::vector<std::int32_t> layers_per_unit;  ///< of ZeRO-3; empty: 1, and around the best plans others
  std::vector<SequenceParallel> sequence_parallel;
  std::vector<Recompute> recompute;
  std::vector<FlashAttention> flash_attention;  ///< empty: Question::usual_flash_attention
  /// Where no schedule is named: also those that split the backward, and V-Half where its order is quickly made.
  bool has_split_backwards = false;
  /// Where ranks compute on equal devices and no layers are named: also the splits that level their work
  /// (level_split.h).
  bool has_level_splits = false;
  /// Only strategies of which it holds; empty: all. A recompute mode that it refuses alone it refuses in every
  /// strategy.
  std::function<bool(const Strategy&)> allows;
};

/// Reads "tp=8,pp=4,zero=1|2,recompute=full|every:2" into a space. Axis names are the strategy's flags, their keys in
/// plan files, or vs, mbs and sp; values apart by '|'. Throws InputError with the nearest axis.
[[nodiscard]] SearchSpace space_from_text(std::string_view fixes);

/// The axis of that name, one of those that space_from_text reads; empty: none.
[[nodiscard]] std::string_view search_axis(std::string_view name);

/// Walks a space. A *family* is everything but ZeRO, shard group and recompute, which change neither what is legal, but
/// for a recompute that counts the layers of a pipeline chunk (rule R27), nor what a block costs. Families with units
/// of several layers are of ZeRO-3.
class SpaceEnumerator {
 public:
  /// Strategy of the family, the rule it breaks (or null), and how many plans it stands for.
  using Visit = std::function<void(const Strategy&, const Violation*, std::int64_t)>;

  SpaceEnumerator(const Question& question, SearchSpace space);

  /// How states are shared.
  struct ZeroChoice {
    std::int32_t stage;
    std::int32_t group;
    ParameterPrefetch prefetch = ParameterPrefetch::on;

    void apply(Strategy& strategy) const;
  };

  /// Visits families in canonical order: simple and small first. False where it was stopped before the last.
  bool for_each_family(const Visit& visit, const StopRequest& stop = {}) const;
  /// The plans of one family, in canonical order: for each way to share states every recompute.
  [[nodiscard]] std::vector<Strategy> leaves(const Strategy& family) const;
  [[nodiscard]] std::vector<ZeroChoice> zero_choices(const Strategy& family) const;
  /// How many plans.
  [[nodiscard]] std::int64_t leaf_count(const Strategy& family) const {
    return static_cast<std::int64_t>(zero_choices(family).size() * recompute_.size());
  }
  /// In increasing order, each once.
  [[nodiscard]] const std::vector<Recompute>& recompute_choices() const { return recompute_; }
  /// The rule that forbids a recompute choice in a legal family, or none.
  [[nodiscard]] std::optional<Violation> violation(const Strategy& family, std::size_t recompute) const;
  /// The recompute choices that are legal in a legal family, in increasing order.
  [[nodiscard]] std::vector<std::size_t> legal_recompute(const Strategy& family) const;

 private:
  struct ScheduleChoice {
    Schedule schedule;
    std::int32_t virtual_stages;
  };
  /// How states are shared in plans with units of so many layers: what the space says, whatever `allows` does.
  struct UnitChoice {
    std::int32_t layers;
    std::vector<ZeroChoice> sharing;
  };
  /// What families of the same degrees have in common.
  struct Degrees {
    std::vector<ScheduleChoice> schedules;
    std::vector<UnitChoice> units;
    std::optional<Violation> violation;
  };
  [[nodiscard]] std::vector<ZeroChoice> zero_choices_of_space(const Strategy& family) const;
  [[nodiscard]] std::vector<UnitChoice> unit_choices(Strategy degrees) const;
  /// Whether a plan of the family is allowed that shares states so.
  [[nodiscard]] bool is_allowed(Strategy& family, const ZeroChoice& sharing) const;
  /// Whether states are shared so in plans with units of so many layers.
  [[nodiscard]] bool allows_stage(std::int32_t zero_stage, std::int32_t layers_per_unit) const;
  void visit_units(Strategy strategy, const Degrees& degrees, const Visit& visit) const;
  [[nodiscard]] std::vector<ScheduleChoice> schedule_choices(std::int32_t pipeline_stages) const;
  [[nodiscard]] std::vector<std::int32_t> virtual_stage_choices(RankChunks chunks, std::int32_t pipeline_stages) const;
  [[nodiscard]] std::vector<std::int32_t> expert_choices() const;
  [[nodiscard]] std::vector<std::int64_t> micro_batch_choices(const Strategy& family) const;
  void visit_experts(Strategy strategy, const Degrees& degrees, const Visit& visit) const;
  void visit_inner(Strategy strategy, const Degrees& degrees, const Visit& visit) const;

  const Question* question_;
  SearchSpace space_;
  std::vector<Recompute> recompute_;
  std::vector<std::int64_t> batch_divisors_;
  Bytes kept_per_sequence_{0};  ///< by the ranks of a replica together, at least
};

}  // namespace plumbline
