#pragma once
/// \file launch_round_trip.h: strategies that a framework launches, drawn at random, and what its files give back.

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "tests/random_strategies.h"

namespace plumbline {

inline void draw_sharding(Dice& dice, Strategy& s) {
  if (s.gradient_ranks() == 1) return;  // states of one rank are whole
  s.zero_stage = static_cast<std::int32_t>(dice.between(0, 3));
  if (s.zero_stage == 0) return;
  s.shard_group = dice.one_in(4) ? static_cast<std::int32_t>(dice.divisor(s.gradient_ranks())) : s.gradient_ranks();
  if (s.shard_group == 1) s.shard_group = s.gradient_ranks();
  if (s.zero_stage == 3 && dice.one_in(3)) s.prefetch = ParameterPrefetch::off;
  if (s.zero_stage == 3 && dice.one_in(3)) s.layers_per_unit = static_cast<std::int32_t>(dice.between(2, 8));
  if (s.zero_stage < 3 || !dice.one_in(3)) return;
  s.secondary_shard_group = static_cast<std::int32_t>(dice.divisor(s.shard_group));
  if (s.secondary_shard_group == s.shard_group) s.secondary_shard_group = 1;
}

inline Strategy drawn_strategy(Dice& dice) {
  Strategy s;
  s.pipeline_stages = dice.one_of({1, 1, 1, 2, 3, 4});
  s.tensor_parallel = dice.one_of({1, 1, 2, 4, 8});
  s.context_parallel = dice.one_of({1, 1, 1, 2, 3});
  s.data_parallel = static_cast<std::int32_t>(dice.between(1, 12));
  s.expert_parallel = dice.one_in(4) ? static_cast<std::int32_t>(dice.divisor(s.data_parallel)) : 1;
  s.schedule = s.pipeline_stages > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.micro_batch = dice.between(1, 8);
  s.micro_batches = dice.between(1, 16);
  if (s.context_parallel > 1 && s.micro_batches % 2 == 0) s.context_communication = ContextCommunication::all_to_all;
  draw_sharding(dice, s);
  s.flash_attention = dice.one_of({FlashAttention::on, FlashAttention::off});
  s.recompute = Recompute{dice.one_of({RecomputeMode::none, RecomputeMode::full})};
  return s;
}

/// One that nothing of the framework's record is against.
inline Strategy launchable_strategy(Dice& dice, Framework framework) {
  for (;;) {
    const Strategy s = drawn_strategy(dice);
    if (launches(record_of(framework), s, NetworkFacts{.has_experts = s.expert_parallel > 1})) return s;
  }
}

inline LaunchSettings settings_for(const Strategy& strategy, const Training& training) {
  LaunchSettings settings = settings_of(strategy, training);
  settings.global_batch = strategy.data_parallel * strategy.micro_batch * strategy.micro_batches;
  settings.model = "meta-llama/Llama-3.1-8B";
  return settings;
}

/// What a target's first file and its launch.sh say together.
inline LaunchSettings settings_back(const LaunchTarget& target, const LaunchFiles& files) {
  LaunchSettings settings = target.read(files.files.front().text, files.files.front().name).settings;
  for (const LaunchFile& file : files.files)
    if (file.name == "launch.sh") fill_missing(settings, target.read(file.text, file.name).settings);
  derive_missing(settings);
  return settings;
}

inline const LaunchFile& file_called(const LaunchFiles& files, std::string_view name) {
  for (const LaunchFile& file : files.files)
    if (file.name == name) return file;
  throw InternalError("no file called " + std::string(name));
}

}  // namespace plumbline
