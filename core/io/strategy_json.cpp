#include "core/io/strategy_json.h"

#include <initializer_list>

#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

std::int32_t degree(JsonObject& object, std::string_view key) {
  return static_cast<std::int32_t>(object.at(key).integer(1, most_devices));
}

/// Refuses products beyond any machine before somebody overflows on them. Factors are at most 10^9.
void check_product(const std::string& where, std::string_view what, std::initializer_list<std::int64_t> factors,
                   std::int64_t limit) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    product *= factor;
    if (product > limit)
      throw InputError({where, std::string(what) + " multiply up to more than " + std::to_string(limit),
                        "a product of at most " + std::to_string(limit), ""});
  }
}

/// A value for each mode, with 2 in the place of N, to find the one nearest to a misspelt value.
std::vector<std::string> recompute_examples() {
  std::vector<std::string> examples;
  for (const RecomputeName& name : recompute_names)
    if (name.mode != RecomputeMode::modules) examples.push_back(to_text(Recompute{name.mode, 2}));
  return examples;
}

Recompute recompute(const JsonPlace& place) {
  const std::string& text = place.string();
  if (const auto value = recompute_from_text(text)) return *value;
  throw InputError({place.where(), "\"" + text.substr(0, 40) + "\" is unknown", recompute_names_text(", "),
                    nearest_text(text, recompute_examples())});
}

std::vector<Optimizer> all_optimizers() {
  std::vector<Optimizer> optimizers;
  for (const OptimizerFacts& row : optimizer_table) optimizers.push_back(row.optimizer);
  return optimizers;
}

void read_recipe(JsonObject& object, Training& training) {
  training.precision = choice_from_json(object.at("precision"), all_precision_recipes);
  if (const auto format = object.find("gradient_precision"))
    training.gradient_format = choice_from_json(*format, all_number_formats);
  else
    training.gradient_format = training.formats().gradient;  // as it was priced, whatever its stack does now
  if (const auto format = object.find("optimizer_precision"))
    training.optimizer_format = choice_from_json(*format, all_number_formats);
  training.optimizer = choice_from_json(object.at("optimizer"), all_optimizers());
}

void check_products(const std::string& where, const Strategy& s) {
  check_product(where, "tensor, context, pipeline and data parallelism",
                {s.tensor_parallel, s.context_parallel, s.pipeline_stages, s.data_parallel}, most_devices);
  check_product(where, "expert and expert tensor parallelism", {s.expert_parallel, s.expert_tensor_parallel},
                most_devices);
  check_product(where, "pipeline and virtual stages", {s.pipeline_stages, s.virtual_stages}, most_devices);
  check_product(where, "data parallelism, micro-batch and micro-batches",
                {s.data_parallel, s.micro_batch, s.micro_batches}, largest_global_batch);
}

}  // namespace

Json to_json(const Strategy& s, const Training& training) {
  Json::Object object{
      {"data_parallel", s.data_parallel},
      {"tensor_parallel", s.tensor_parallel},
      {"sequence_parallel", s.sequence_parallel == SequenceParallel::on},
      {"pipeline_stages", s.pipeline_stages},
      {"virtual_stages", s.virtual_stages},
      {"context_parallel", s.context_parallel},
      {"expert_parallel", s.expert_parallel},
      {"expert_tensor_parallel", s.expert_tensor_parallel},
      {"zero_stage", s.zero_stage},
      {"shard_group", s.shard_group},
      {"schedule", to_text(s.schedule)},
      {"micro_batch", s.micro_batch},
      {"micro_batches", s.micro_batches},
      {"recompute", to_text(s.recompute)},
      {"split", to_text(s.split)},
      {"layers_per_stage", s.layers_per_stage.empty() ? Json() : json_array(s.layers_per_stage)},
      {"precision", to_text(training.precision)},
      {"gradient_precision", training.gradient_format ? Json(to_text(*training.gradient_format)) : Json()},
      {"optimizer", to_text(training.optimizer)},
      {"flash_attention", s.flash_attention == FlashAttention::on}};
  if (s.context_communication != ContextCommunication::ring)
    object.emplace_back("cp_comm", to_text(s.context_communication));
  if (s.prefetch == ParameterPrefetch::off) object.emplace_back("prefetch", false);
  if (s.layers_per_unit != 1) object.emplace_back("layers_per_unit", s.layers_per_unit);
  if (training.optimizer_format) object.emplace_back("optimizer_precision", to_text(*training.optimizer_format));
  return object;
}

Strategy strategy_from_json(const JsonPlace& place, Training& training) {
  JsonObject object(place);
  Strategy s;
  s.data_parallel = degree(object, "data_parallel");
  s.tensor_parallel = degree(object, "tensor_parallel");
  s.sequence_parallel = object.at("sequence_parallel").boolean() ? SequenceParallel::on : SequenceParallel::off;
  s.pipeline_stages = degree(object, "pipeline_stages");
  s.virtual_stages = degree(object, "virtual_stages");
  s.context_parallel = degree(object, "context_parallel");
  if (const auto communication = object.find("cp_comm"))
    s.context_communication = choice_from_json(*communication, all_context_communications);
  s.expert_parallel = degree(object, "expert_parallel");
  if (object.find("expert_tensor_parallel")) s.expert_tensor_parallel = degree(object, "expert_tensor_parallel");
  s.zero_stage = static_cast<std::int32_t>(object.at("zero_stage").integer(0, 3));
  s.shard_group = degree(object, "shard_group");
  if (const auto prefetch = object.find("prefetch"))
    s.prefetch = prefetch->boolean() ? ParameterPrefetch::on : ParameterPrefetch::off;
  if (const auto layers = object.find("layers_per_unit"))
    s.layers_per_unit = static_cast<std::int32_t>(layers->integer(1, most_layers));
  s.schedule = choice_from_json(object.at("schedule"), all_schedules);
  s.micro_batch = object.at("micro_batch").integer(1, largest_global_batch);
  s.micro_batches = object.at("micro_batches").integer(1, largest_global_batch);
  s.recompute = recompute(object.at("recompute"));
  if (const auto split = object.find("split")) s.split = choice_from_json(*split, all_stage_splits);
  if (const auto layers = object.find("layers_per_stage"))
    for (const JsonPlace& count : layers->elements())
      s.layers_per_stage.push_back(static_cast<std::int32_t>(count.integer(0, most_layers)));
  read_recipe(object, training);
  s.flash_attention = object.at("flash_attention").boolean() ? FlashAttention::on : FlashAttention::off;
  object.finish();
  check_products(object.where(), s);
  return s;
}

}  // namespace plumbline
