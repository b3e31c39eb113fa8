#include "core/io/strategy_json.h"

#include <initializer_list>

#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/plan/strategy_axes.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

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

Json value_json(const StrategyAxis& axis, const Strategy& s) {
  switch (axis.kind) {
    case AxisKind::number: return axis.get(s);
    case AxisKind::toggle: return axis.get(s) != 0;
    case AxisKind::layers: return s.layers_per_stage.empty() ? Json() : json_array(s.layers_per_stage);
    case AxisKind::choice:
    case AxisKind::recompute: break;
  }
  return axis.text(s);
}

void read_value(const StrategyAxis& axis, const JsonPlace& place, Strategy& s) {
  switch (axis.kind) {
    case AxisKind::number: axis.set(s, place.integer(axis.least, axis.most)); return;
    case AxisKind::toggle: axis.set(s, place.boolean() ? 1 : 0); return;
    case AxisKind::choice: axis.set(s, static_cast<std::int64_t>(choice_from_names(place, axis.names))); return;
    case AxisKind::recompute: s.recompute = recompute(place); return;
    case AxisKind::layers:
      for (const JsonPlace& count : place.elements())
        s.layers_per_stage.push_back(static_cast<std::int32_t>(count.integer(axis.least, axis.most)));
  }
}

void add_recipe(Json::Object& object, const Training& training) {
  object.emplace_back("precision", to_text(training.precision));
  object.emplace_back("gradient_precision",
                      training.gradient_format ? Json(to_text(*training.gradient_format)) : Json());
  object.emplace_back("optimizer", to_text(training.optimizer));
}

}  // namespace

Json to_json(const Strategy& s, const Training& training) {
  Json::Object object;
  bool has_recipe = false;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::file_place)) {
    if (!has_recipe && axis->file_place > StrategyAxis::recipe_place) add_recipe(object, training), has_recipe = true;
    if (axis->in_files != InFiles::where_unusual || !axis->is_usual(s))
      object.emplace_back(axis->key, value_json(*axis, s));
  }
  if (training.optimizer_format) object.emplace_back("optimizer_precision", to_text(*training.optimizer_format));
  return object;
}

Strategy strategy_from_json(const JsonPlace& place, Training& training) {
  JsonObject object(place);
  Strategy s;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::file_place))
    if (axis->in_files == InFiles::required)
      read_value(*axis, object.at(axis->key), s);
    else if (const auto found = object.find(axis->key))
      read_value(*axis, *found, s);
  read_recipe(object, training);
  object.finish();
  check_products(object.where(), s);
  return s;
}

}  // namespace plumbline
