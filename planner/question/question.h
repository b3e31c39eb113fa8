#pragma once
/// \file question.h: what a user asks: a model, a machine, a recipe; made ready for pricing.
///
/// Defaults and checks live here once, for the command line and the window alike.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/block_cost.h"
#include "core/cost/step_time.h"
#include "core/graph/graph.h"
#include "core/machine/cluster.h"
#include "core/machine/sites.h"
#include "core/plan/legality.h"
#include "core/plan/plan.h"
#include "core/training/training.h"
#include "models/description/network.h"
#include "planner/question/default_stack.h"
#include "planner/stacks/stack_choices.h"

namespace plumbline {

/// Memory of every device that a plan is to leave free: a share of it, or bytes.
struct Headroom {
  double share = 0;
  Bytes bytes{0};

  [[nodiscard]] Bytes of(Bytes device_memory) const;
};
/// "5%", "2 GiB" or "0". Throws InputError (where as given).
[[nodiscard]] Headroom headroom_from_text(std::string_view text, std::string_view where);

/// The question as asked: names and numbers, nothing derived.
struct QuestionText {
  std::string model;         ///< catalogue name, alias or file
  std::string machine;       ///< catalogue name, alias or file
  std::int64_t devices = 0;  ///< 0: all of a machine file, else one node
  Training training;         ///< sequence_length 0: the model's own, at most 8192; global_batch 0: refused
  std::string stack;         ///< software stack; empty: the default one
  StackChoices choices;      ///< what it does instead of its own way
  /// Samples (images, sequences) of the whole run, where its length is given so; then training.token_budget follows.
  std::optional<std::int64_t> sample_budget;
  std::optional<Dollars> price_per_device_hour;  ///< instead of what the machine's file says
  bool tensor_parallel_across_nodes = false;
  Headroom headroom;
};

/// What to say about names of `text` that could be read both as the catalogue's and as files; or empty.
[[nodiscard]] std::string name_warning(const QuestionText& text);

/// Two-sided 90 % of a normal distribution, one-sided 95 %.
inline constexpr double deviations_90_percent = 1.645;

/// A question whose parts were found, checked and fit together. Immutable; shared by threads.
class Question {
 public:
  /// Throws InputError naming the part that is wrong, what was expected, and the nearest.
  explicit Question(const QuestionText& text);
  /// The same of a network and machine that have no name in the catalogue; `text.devices` is the cluster's.
  Question(const QuestionText& text, Network network, Cluster cluster);

  /// The same question on a machine whose kernels and stack behave as `calibration` says; in a mixed cluster, the
  /// kernels of the kinds that the same device calibration prices.
  [[nodiscard]] Question with_calibration(const Calibration& calibration) const;

  [[nodiscard]] const QuestionText& text() const { return text_; }
  [[nodiscard]] const Network& network() const { return network_; }
  /// The network as it is trained: frozen parameters and adapters written in.
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const Training& training() const { return text_.training; }
  /// What answers where nobody names a stack.
  [[nodiscard]] const DefaultStack& usual_stack() const { return usual_; }
  /// Whether the stack that prices is that one, without a choice against it.
  [[nodiscard]] bool has_usual_stack() const { return calibration_.stack.name == usual_.taken().stack; }
  /// What the stages of a pipeline compute on: site 0 is the whole cluster.
  [[nodiscard]] const Sites& sites() const { return sites_; }
  [[nodiscard]] StageSites stage_sites(const Strategy& strategy) const {
    return sites_.of_stages(strategy.pipeline_stages);
  }
  /// Of the slowest device.
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }
  [[nodiscard]] const Divisibility& facts() const { return facts_; }
  [[nodiscard]] const LegalityLimits& limits() const { return limits_; }
  /// Of plans whose chunks keep them whole: core/cost/stage_memory.h.
  [[nodiscard]] std::optional<NumberFormat> kept_gradients(const Strategy& strategy) const;
  /// Where nobody chooses: on where the stack has fused attention and the devices have kernels for the network's heads.
  [[nodiscard]] FlashAttention usual_flash_attention() const;
  [[nodiscard]] const BlockPricer& block_pricer(std::int32_t site = 0) const {
    return block_pricers_[static_cast<std::size_t>(site)];
  }
  [[nodiscard]] const StepPricer& step_pricer() const { return step_pricer_; }
  /// Of the smallest device, or the smallest of a site.
  [[nodiscard]] Bytes device_memory(std::int32_t site = 0) const { return sites_[site].memory; }
  /// What a plan may be predicted to need: the device's memory without the headroom asked for.
  [[nodiscard]] Bytes capacity(std::int32_t site = 0) const;
  [[nodiscard]] Bytes largest_capacity() const;
  /// The most of that whose interval (trust.h) does not reach beyond the device: it fits in 95 of 100 cases.
  [[nodiscard]] Bytes certain_capacity(std::int32_t site = 0) const;
  /// What `held` on a device of `site` is as a part of the smallest device's capacity: it fits where that does.
  [[nodiscard]] Bytes on_smallest(Bytes held, std::int32_t site) const;
  [[nodiscard]] std::int64_t devices() const { return limits_.devices; }
  /// Dollars per device and hour: as asked, else the machine's, else nothing.
  [[nodiscard]] std::optional<Dollars> price() const;

 private:
  Network network_;
  Graph graph_;
  Cluster cluster_;
  DefaultStack usual_;
  QuestionText text_;
  Sites sites_;
  Calibration calibration_;
  Divisibility facts_;
  LegalityLimits limits_;
  bool stack_fuses_attention_ = true;
  std::vector<BlockPricer> block_pricers_;  ///< by site
  StepPricer step_pricer_;
};

/// Fills what a strategy leaves open as the command line documents it: dp from the GPUs, micro-batches from the batch,
/// schedule none or 1f1b, the shard group whole. Throws InputError when the numbers cannot fit together.
struct PartialStrategy {
  Strategy strategy;  ///< degrees as asked, 1 where absent
  bool data_parallel_given = false;
  bool schedule_given = false;
  bool shard_group_given = false;
  bool flash_attention_given = false;  ///< where not: usual_flash_attention, unless the strategy has it off
};
[[nodiscard]] Strategy completed(const PartialStrategy& partial, const Question& question);

/// Throws InputError where the recipe chooses a format of moments and its optimizer keeps none.
void require_moments(const Training& training);

/// bf16, or fp16 where a device has no units for bf16 (V100, T4).
[[nodiscard]] PrecisionRecipe usual_precision(const Cluster& cluster);

/// Throws InputError where a device has no units for the recipe's products (core/machine/abilities.h):
/// Device::product_peak would price them at the rate of a format that nobody asked for. Rows that were measured so are
/// priced all the same (planner/validate).
void require_units(const Question& question);

/// Throws InputError with the rule's id, sentence and numbers when a strategy is not legal.
void require_legal(const Strategy& strategy, const Question& question);

}  // namespace plumbline
