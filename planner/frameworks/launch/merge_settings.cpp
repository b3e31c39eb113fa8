#include "planner/frameworks/launch/merge_settings.h"

#include "planner/frameworks/launch/launch_recipe.h"

namespace plumbline {
namespace {

template <class Value>
void fill(std::optional<Value>& value, const std::optional<Value>& more) {
  if (!value) value = more;
}

void fill_recipe(LaunchRecipe& recipe, const LaunchRecipe& more) {
  for_each_recipe_member([&](const char*, auto member) { fill(recipe.*member, more.*member); });
}

void fill_question(LaunchSettings& s, const LaunchSettings& more) {
  if (s.model.empty()) s.model = more.model;
  if (s.network_config.is_null()) s.network_config = more.network_config;
  fill(s.nodes, more.nodes);
  fill(s.devices_per_node, more.devices_per_node);
  fill(s.devices, more.devices);
  fill(s.sequence_length, more.sequence_length);
  fill(s.global_batch, more.global_batch);
  fill(s.precision, more.precision);
  fill(s.gradient_format, more.gradient_format);
  fill(s.optimizer_format, more.optimizer_format);
  fill(s.optimizer, more.optimizer);
  fill(s.lora_rank, more.lora_rank);
  fill(s.lora_targets, more.lora_targets);
  s.choices = merged(s.choices, more.choices);
}

}  // namespace

void fill_missing(LaunchSettings& s, const LaunchSettings& more) {
  fill_question(s, more);
  fill(s.pipeline_stages, more.pipeline_stages);
  fill(s.tensor_parallel, more.tensor_parallel);
  fill(s.context_parallel, more.context_parallel);
  fill(s.context_communication, more.context_communication);
  fill(s.expert_parallel, more.expert_parallel);
  fill(s.expert_tensor_parallel, more.expert_tensor_parallel);
  fill(s.data_parallel, more.data_parallel);
  fill(s.virtual_stages, more.virtual_stages);
  fill(s.schedule, more.schedule);
  fill(s.micro_batch, more.micro_batch);
  fill(s.micro_batches, more.micro_batches);
  fill(s.zero_stage, more.zero_stage);
  fill(s.shard_group, more.shard_group);
  fill(s.shard_copies, more.shard_copies);
  fill(s.prefetch, more.prefetch);
  fill(s.layers_per_unit, more.layers_per_unit);
  fill(s.sequence_parallel, more.sequence_parallel);
  fill(s.flash_attention, more.flash_attention);
  fill(s.recompute, more.recompute);
  if (s.layers_per_stage.empty()) s.layers_per_stage = more.layers_per_stage;
  fill_recipe(s.recipe, more.recipe);
}

}  // namespace plumbline
