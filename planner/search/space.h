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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/priced_values.h"
#include "core/plan/strategy_axes.h"
#include "planner/question/question.h"
#include "planner/question/stop_request.h"

namespace plumbline {

/// The most virtual stages that a search tries where none are named.
inline constexpr std::int32_t most_virtual_stages = 16;

/// The values of each axis that a search keeps to, in lists by the names of Strategy's members:
/// std::vector<std::int32_t> pipeline_stages and so on. An empty list leaves the axis free. An axis that is searched as
/// it is listed (StrategyAxis::in_search), and expert_tensor_parallel, has its usual value where it is free
/// (flash_attention: Question::usual_flash_attention), and others around the best plans (variants.h).
struct SearchSpace {
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) std::vector<decltype(Strategy::MEMBER)> MEMBER;  // NOLINT
  PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
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
/// for a recompute that counts the layers of a pipeline chunk (rule R27), nor what a block costs. Families with an
/// unusual detail of the ZeRO stage, such as units of several layers, have a stage in which that means something.
class SpaceEnumerator {
 public:
  /// Strategy of the family, the rule it breaks (or null), and how many plans it stands for.
  using Visit = std::function<void(const Strategy&, const Violation*, std::int64_t)>;

  SpaceEnumerator(const Question& question, SearchSpace space);

  /// How states are shared: the values of the axes that are priced in it.
  struct ZeroChoice {
    decltype(values_priced_in<PricedIn::sharing>({})) values;

    void apply(Strategy& strategy) const { members_priced_in<PricedIn::sharing>(strategy) = values; }
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
  /// An axis of which a search takes the values that are listed, where it means something; else its usual value.
  struct ListedAxis {
    const StrategyAxis* axis;
    std::int64_t usual;
    std::vector<std::int64_t> values;  ///< empty: the usual one

    ListedAxis(const StrategyAxis& of, const std::vector<Strategy>& with_values);
    void set(Strategy& strategy, std::int64_t value) const { axis->set(strategy, value); }
    /// Whether the space has the strategy's value.
    [[nodiscard]] bool allows(const Strategy& strategy) const;
  };
  struct ListedValue {
    const ListedAxis* axis;
    std::int64_t value;
  };
  /// How states are shared in families with these details of the ZeRO stage, which change layouts or blocks too, such
  /// as the layers of a unit: what the space says, whatever `allows` does.
  struct DetailChoice {
    std::vector<ListedValue> details;  ///< those that are fixed
    std::vector<ZeroChoice> sharing;
  };
  /// What families of the same degrees have in common.
  struct Degrees {
    std::vector<ScheduleChoice> schedules;
    std::vector<DetailChoice> details;  ///< the usual ones first
    std::optional<Violation> violation;
  };
  void sort_lists();
  void take_listed_axes();
  [[nodiscard]] std::vector<ZeroChoice> zero_choices_of_space(Strategy family) const;
  /// The strategy's stage and group with each value of the details.
  void add_zero_choices(Strategy& s, std::span<const ListedAxis> details, std::vector<ZeroChoice>& into) const;
  [[nodiscard]] std::vector<DetailChoice> detail_choices(const Strategy& degrees) const;
  /// Whether a plan of the family is allowed that shares states so.
  [[nodiscard]] bool is_allowed(Strategy& family, const ZeroChoice& sharing) const;
  void visit_listed(Strategy strategy, std::span<const ListedAxis> axes, const Degrees& degrees,
                    const Visit& visit) const;
  void visit_details(Strategy strategy, const Degrees& degrees, const Visit& visit) const;
  [[nodiscard]] std::vector<ScheduleChoice> schedule_choices(std::int32_t pipeline_stages) const;
  [[nodiscard]] std::vector<std::int32_t> virtual_stage_choices(RankChunks chunks, std::int32_t pipeline_stages) const;
  [[nodiscard]] std::vector<std::int32_t> expert_choices() const;
  [[nodiscard]] std::vector<std::int64_t> micro_batch_choices(const Strategy& family) const;
  void visit_experts(Strategy strategy, const Degrees& degrees, const Visit& visit) const;
  void visit_inner(Strategy strategy, const Degrees& degrees, const Visit& visit) const;

  const Question* question_;
  SearchSpace space_;
  std::vector<ListedAxis> listed_;             ///< that are no details
  std::vector<ListedAxis> details_of_family_;  ///< of the ZeRO stage
  std::vector<ListedAxis> details_of_sharing_;
  std::vector<Recompute> recompute_;
  std::vector<std::int64_t> batch_divisors_;
  Bytes kept_per_sequence_{0};  ///< by the ranks of a replica together, at least
};

}  // namespace plumbline
