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
  for_each_axis([&](auto said, auto) { fill(s.*said, more.*said); });
  fill(s.shard_copies, more.shard_copies);
  if (s.layers_per_stage.empty()) s.layers_per_stage = more.layers_per_stage;
  fill_recipe(s.recipe, more.recipe);
}

}  // namespace plumbline
