#include "runtime/run/recipe.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/errors.h"
#include "runtime/training/optimizer_numbers.h"

namespace plumbline {
namespace {

enum class Kind : std::uint8_t { whole, real, text };

/// One key. To add one: its row, and where the flag is read (flags/training_flags.cpp).
struct RecipeKey {
  std::string_view name;
  Kind kind;
  double smallest = 0;
  double largest = 0;
};

constexpr double most_steps = most_run_steps;
constexpr std::array keys{RecipeKey{"steps", Kind::whole, 1, most_steps},
                          RecipeKey{"seed", Kind::whole, 0, 9007199254740992.0},  // 2^53: any reader of JSON has it
                          RecipeKey{"data", Kind::text},
                          RecipeKey{"data_format", Kind::text},
                          RecipeKey{"held_out", Kind::real, 0, largest_held_out},
                          RecipeKey{"init", Kind::text},
                          RecipeKey{"learning_rate", Kind::real, 0, largest_learning_rate},
                          RecipeKey{"final_learning_rate", Kind::real, 0, largest_learning_rate},
                          RecipeKey{"lr_schedule", Kind::text},
                          RecipeKey{"schedule_steps", Kind::whole, 1, most_steps},
                          RecipeKey{"warmup_steps", Kind::whole, 0, most_steps},
                          RecipeKey{"lr_decay", Kind::real, 0, 1},
                          RecipeKey{"lr_decay_every", Kind::whole, 1, most_steps},
                          RecipeKey{"clip", Kind::real, 0, largest_clip},
                          RecipeKey{"clip_value", Kind::real, 0, largest_clip},
                          RecipeKey{"rounding", Kind::text},
                          RecipeKey{"fp8_scaling", Kind::text},
                          RecipeKey{"expert_routing", Kind::text},
                          RecipeKey{"checkpoint", Kind::text},
                          RecipeKey{"checkpoint_every", Kind::whole, 1, most_steps}};

std::string flag_name(std::string_view key) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string key_name(std::string_view flag) {
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Json value_of(const JsonPlace& place, const RecipeKey& key) {
  if (key.kind == Kind::text) return place.string();
  if (key.kind == Kind::real) return place.number(key.smallest, key.largest);
  return place.integer(static_cast<std::int64_t>(key.smallest), static_cast<std::int64_t>(key.largest));
}

/// Whether the plan's precision reads a key that says how products of fp8 are scaled.
bool is_read(const RecipeKey& key, const Training& training) {
  return key.name != "fp8_scaling" || is_fp8(training.precision);
}

LossScaleRule loss_scale_from_json(const JsonPlace& place) {
  constexpr double largest = std::numeric_limits<double>::max();
  JsonObject object(place);
  LossScaleRule rule;
  if (const auto value = object.find("initial")) rule.initial = value->number(0, largest);
  if (const auto value = object.find("smallest")) rule.smallest = value->number(0, largest);
  if (const auto value = object.find("largest")) rule.largest = value->number(0, largest);
  if (const auto value = object.find("growth_interval")) rule.growth_interval = value->integer(1, most_run_steps);
  object.finish();
  try {
    require_valid(rule);
  } catch (const InputError& error) {
    throw InputError({place.where(), error.problem().what, error.problem().expected, ""});
  }
  return rule;
}

}  // namespace

Json default_recipe(const Training& training) {
  Json::Object recipe;
  for (const RecipeKey& key : keys)
    if (is_read(key, training)) recipe.emplace_back(std::string(key.name), nullptr);
  for (const OptimizerNumber& number : optimizer_numbers())
    if (number.is_read_by(training.optimizer)) recipe.emplace_back(key_name(number.name), nullptr);
  recipe.emplace_back("loss_scale", nullptr);
  return recipe;
}

Recipe recipe_from_json(const JsonPlace& place, const Training& training) {
  JsonObject object(place);
  Recipe recipe;
  for (const RecipeKey& key : keys)
    if (const auto value = object.find(key.name))
      recipe.settings.push_back({flag_name(key.name), value_of(*value, key)});
  for (const OptimizerNumber& number : optimizer_numbers())
    if (number.is_read_by(training.optimizer))
      if (const auto value = object.find(key_name(number.name)))
        recipe.settings.push_back({std::string(number.name), value->number(number.smallest, number.largest)});
  if (const auto rule = object.find("loss_scale")) {
    if (!scales_loss(training.precision))
      throw InputError({rule->where(), "is not read by the precision " + std::string(to_text(training.precision)),
                        "null, or fp16", ""});
    recipe.loss_scale = loss_scale_from_json(*rule);
  }
  object.finish();
  return recipe;
}

Json recipe_with(const TrainingSettings& said, const Training& training, const std::string& where) {
  Json::Object recipe = *default_recipe(training).if_object();
  for (const TrainingSetting& one : said)
    for (auto& [key, value] : recipe)
      if (key == one.name) value = one.value;
  Json written(std::move(recipe));
  static_cast<void>(recipe_from_json(JsonPlace(written, where), training));
  return written;
}

Recipe recipe_in(const Json& plan_file, const std::string& name, const Training& training) {
  const Json* const written = plan_file.find("recipe");
  if (written == nullptr || written->is_null()) return {};
  return recipe_from_json(JsonPlace(*written, name + ":/recipe"), training);
}

Json written_recipe(const Json& plan_file, const Training& training) {
  const Json* const written = plan_file.find("recipe");
  return written == nullptr || written->is_null() ? default_recipe(training) : *written;
}

}  // namespace plumbline
