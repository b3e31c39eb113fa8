#include "planner/frameworks/launch/launch_settings.h"

#include <limits>

#include "core/training/adaptation_text.h"

namespace plumbline {
namespace {

/// Of numbers that somebody wrote: nothing where the product is not a sensible count.
std::optional<std::int64_t> product(std::initializer_list<std::optional<std::int64_t>> factors) {
  std::int64_t all = 1;
  for (const std::optional<std::int64_t>& factor : factors) {
    if (!factor || *factor < 1 || *factor > std::numeric_limits<std::int64_t>::max() / all) return std::nullopt;
    all *= *factor;
  }
  return all;
}

std::optional<std::int64_t> quotient(std::optional<std::int64_t> total, std::optional<std::int64_t> part) {
  if (!total || !part || *part < 1 || *total < *part || *total % *part != 0) return std::nullopt;
  return *total / *part;
}

std::int64_t or_one(std::optional<std::int32_t> degree) { return degree.value_or(1); }

/// Ranks of one copy of the model.
std::optional<std::int64_t> model_ranks(const LaunchSettings& s) {
  return product({or_one(s.pipeline_stages), or_one(s.tensor_parallel), or_one(s.context_parallel)});
}

void derive_devices(LaunchSettings& s) {
  if (!s.devices) s.devices = product({s.nodes, s.devices_per_node});
  if (!s.devices && s.data_parallel) s.devices = product({model_ranks(s), std::int64_t{*s.data_parallel}});
  if (!s.devices_per_node) s.devices_per_node = quotient(s.devices, s.nodes);
  if (!s.nodes) s.nodes = quotient(s.devices, s.devices_per_node);
  if (s.data_parallel) return;
  const std::optional<std::int64_t> ranks = quotient(s.devices, model_ranks(s));
  if (ranks && *ranks <= std::numeric_limits<std::int32_t>::max()) s.data_parallel = static_cast<std::int32_t>(*ranks);
}

void derive_batch(LaunchSettings& s) {
  const std::optional<std::int64_t> dp = s.data_parallel;
  if (!s.global_batch) s.global_batch = product({dp, s.micro_batch, s.micro_batches});
  if (!s.micro_batches) s.micro_batches = quotient(s.global_batch, product({dp, s.micro_batch}));
  if (!s.micro_batch) s.micro_batch = quotient(s.global_batch, product({dp, s.micro_batches}));
}

Schedule usual_schedule(const LaunchSettings& s) {
  if (or_one(s.pipeline_stages) == 1) return Schedule::none;
  return or_one(s.virtual_stages) > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
}

void derive_shard_group(LaunchSettings& s) {
  if (!s.shard_group && s.zero_stage.value_or(0) == 0) s.shard_group = 1;
  if (s.shard_group || !s.data_parallel) return;
  const auto ranks =
      quotient(product({std::int64_t{*s.data_parallel}, or_one(s.context_parallel)}), or_one(s.shard_copies));
  if (ranks && *ranks <= std::numeric_limits<std::int32_t>::max()) s.shard_group = static_cast<std::int32_t>(*ranks);
}

/// Files may name a secondary group that is all of the shard group, or of no effect.
void drop_idle_secondary(LaunchSettings& s) {
  if (!s.secondary_shard_group) return;
  const bool is_smaller = !s.shard_group || *s.secondary_shard_group < *s.shard_group;
  if (s.zero_stage.value_or(0) != 3 || !is_smaller) s.secondary_shard_group = 1;
}

template <class Value>
void take(Value& value, const std::optional<Value>& said) {
  if (said) value = *said;
}

}  // namespace

std::int64_t gradient_ranks(const LaunchSettings& s) { return or_one(s.data_parallel) * or_one(s.context_parallel); }

std::int64_t sharding_ranks(const LaunchSettings& s) {
  return s.shard_group ? std::int64_t{*s.shard_group} : gradient_ranks(s);
}

bool is_hybrid(const LaunchSettings& s) {
  return s.zero_stage.value_or(0) > 0 && sharding_ranks(s) != gradient_ranks(s);
}

LaunchSettings settings_of(const Strategy& strategy, const Training& training) {
  LaunchSettings s;
  s.devices = strategy.devices();
  s.sequence_length = training.sequence_length;
  s.global_batch = training.global_batch;
  s.precision = training.precision;
  s.gradient_format = training.formats().gradient;
  s.optimizer_format = training.formats().optimizer_state;
  s.optimizer = training.optimizer;
  s.lora_rank = training.adaptation.lora_rank;
  s.lora_targets = training.adaptation.lora_targets;
  s.frozen = freeze_text(training.adaptation);
  for_each_axis([&](auto said, auto member) { s.*said = strategy.*member; });
  s.layers_per_stage = strategy.layers_per_stage;
  return s;
}

void derive_missing(LaunchSettings& s) {
  if (s.recipe.schedule_steps == s.recipe.steps) s.recipe.schedule_steps.reset();
  derive_devices(s);
  derive_batch(s);
  if (!s.expert_tensor_parallel) s.expert_tensor_parallel = 1;
  if (!s.schedule) s.schedule = usual_schedule(s);
  derive_shard_group(s);
  drop_idle_secondary(s);
}

bool has_autocast_gradients(const LaunchSettings& s) {
  return s.zero_stage == 0 && s.precision && precision_formats(*s.precision).master;
}

void take_autocast_gradients(LaunchSettings& s) {
  if (!s.gradient_format && has_autocast_gradients(s)) s.gradient_format = NumberFormat::fp32;
}

Strategy strategy_of(const LaunchSettings& s) {
  Strategy strategy;
  for_each_axis([&](auto said, auto member) { take(strategy.*member, s.*said); });
  // Of undivided sequences a file may say anything.
  if (strategy.context_parallel == 1) strategy.context_communication = {};
  strategy.layers_per_stage = s.layers_per_stage;
  return strategy;
}

Training training_of(const LaunchSettings& s) {
  Training training;
  take(training.sequence_length, s.sequence_length);
  take(training.global_batch, s.global_batch);
  take(training.precision, s.precision);
  take(training.optimizer, s.optimizer);
  take(training.adaptation.lora_rank, s.lora_rank);
  take(training.adaptation.lora_targets, s.lora_targets);
  // Where nothing is said of gradients, their format is the software stack's, not the recipe's.
  training.gradient_format = s.gradient_format;
  // A format of the recipe itself is not said: an override that changes nothing is none.
  if (s.optimizer_format && *s.optimizer_format != precision_formats(training.precision).optimizer_state)
    training.optimizer_format = s.optimizer_format;
  return training;
}

}  // namespace plumbline
