#pragma once
/// \file launch_settings.h: what launch files of a training framework say about a run, as values of ours.
///
/// Between a plan and the files of any framework: `plan export` makes it from a plan and writes files from it, `plan
/// import` reads files into it. Whatever no file said is empty: import never invents.
/// Checked against: tests/unit/planner/frameworks/round_trip_test.cpp (plan to files to plan, per target).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/plan/strategy.h"
#include "core/training/learning_rate_shape.h"
#include "core/training/training.h"
#include "planner/stacks/stack_choices.h"

namespace plumbline {

/// What a recipe says that changes no price, carried through as it was written (launch_recipe.h).
struct LaunchRecipe {
  std::optional<std::int64_t> steps;  ///< optimizer steps
  std::optional<std::int64_t> seed;
  std::optional<double> learning_rate;        ///< at its peak
  std::optional<double> final_learning_rate;  ///< of schedules that end at one
  std::optional<LearningRateShape> lr_schedule;
  std::optional<std::int64_t> schedule_steps;  ///< that the schedule spans, where they are not those of the run
  std::optional<std::int64_t> warmup_steps;
  std::optional<double> clip;  ///< norm of gradients; 0: none
  std::optional<double> beta1;
  std::optional<double> beta2;
  std::optional<double> epsilon;
  std::optional<double> momentum;
  std::optional<double> weight_decay;
  std::optional<std::string> checkpoint;         ///< folder
  std::optional<std::int64_t> checkpoint_every;  ///< steps
};

struct LaunchSettings {
  std::string model;                  ///< name in the catalogue, or of Hugging Face; or empty
  Json network_config;                ///< of Hugging Face; null: not known
  std::optional<std::int64_t> nodes;  ///< of `devices_per_node` GPUs each
  std::optional<std::int64_t> devices_per_node;
  std::optional<std::int64_t> devices;          ///< GPUs in all
  std::optional<std::int64_t> sequence_length;  ///< tokens
  std::optional<std::int64_t> global_batch;     ///< sequences per optimizer step
  std::optional<PrecisionRecipe> precision;
  std::optional<NumberFormat> gradient_format;
  std::optional<NumberFormat> optimizer_format;
  std::optional<Optimizer> optimizer;
  std::optional<std::int64_t> lora_rank;
  std::optional<LoraTargets> lora_targets;
  StackChoices choices;  ///< empty: what the framework does by itself
  std::string frozen;    ///< as --freeze says it; no file of any framework does
  // Choices of the strategy by its names: std::optional<std::int32_t> pipeline_stages and so on.
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) std::optional<decltype(Strategy::MEMBER)> MEMBER;  // NOLINT
  PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
  std::optional<std::int64_t> micro_batches;
  std::optional<std::int32_t> shard_copies;  ///< of the sharded states, where files say those: the shard group follows
  std::vector<std::int32_t> layers_per_stage;  ///< one for each chunk; empty: even
  LaunchRecipe recipe;
};

/// Calls `visit(of the settings, of the strategy)` with the members of each axis that is an optional of the settings.
template <class Visit>
void for_each_axis(const Visit& visit) {
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) visit(&LaunchSettings::MEMBER, &Strategy::MEMBER);
  PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
  visit(&LaunchSettings::micro_batches, &Strategy::micro_batches);
}

/// Data-parallel times context-parallel ranks; those that were not said are 1.
[[nodiscard]] std::int64_t gradient_ranks(const LaunchSettings& settings);
/// Of them, those that share one copy of the sharded states: all where nothing is said.
[[nodiscard]] std::int64_t sharding_ranks(const LaunchSettings& settings);
/// Whether that makes several copies.
[[nodiscard]] bool is_hybrid(const LaunchSettings& settings);

/// Of a plan: every optional of a strategy and a training is set. `network_config` as JSON, null where there is none.
[[nodiscard]] LaunchSettings settings_of(const Strategy& strategy, const Training& training);

/// Fills the empty ones that follow from the others: GPUs and nodes, data parallelism, the batch and its parts, the
/// schedule (none, interleaved or 1f1b), expert_tensor_parallel (1) and the shard group (all ranks). Degrees that were
/// not said are 1. Where the numbers do not divide the value stays empty.
void derive_missing(LaunchSettings& settings);
/// Whether gradients are in 32 bits though products are not: torch.autocast leaves parameters in 32 bits, a gradient
/// has its parameter's format, and DistributedDataParallel reduces it so. Of frameworks that mix precisions by
/// torch.autocast and shard nothing (PyTorch, docs/source/amp.rst, torch/nn/parallel/distributed.py).
[[nodiscard]] bool has_autocast_gradients(const LaunchSettings& settings);
/// Where that is so and nothing is said of gradients, says it.
void take_autocast_gradients(LaunchSettings& settings);
/// What is still empty has the value of a run that does not use it: those of an empty Strategy.
[[nodiscard]] Strategy strategy_of(const LaunchSettings& settings);
/// The same of an empty Training.
[[nodiscard]] Training training_of(const LaunchSettings& settings);

}  // namespace plumbline
