#include "core/io/stack_json.h"

#include <algorithm>
#include <set>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/calibration_json.h"
#include "core/io/feature_json.h"
#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/io/residuals_json.h"

namespace plumbline {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class T>
Names names_of(const std::vector<T>& all) {
  Names names;
  for (const T& each : all) names.push_back(each.name);
  return names;
}

/// Of a base, a value of an axis or a stack: both in the order of the file.
StackNumbers settings_from_json(const std::optional<JsonPlace>& numbers, const std::optional<JsonPlace>& features) {
  StackNumbers settings;
  if (features) settings.features = features_from_json(*features);
  if (!numbers) return settings;
  StackNumbers read = stack_numbers_from_json(*numbers);
  settings.coefficients = std::move(read.coefficients);
  add_features(settings.features, read.features, *numbers);
  return settings;
}

/// Names of everything that a value of an axis sets.
Names set_by(const AxisValue& value) {
  Names names = names_of(value.coefficients);
  for (std::string& feature : names_of(value.features)) names.push_back(std::move(feature));
  return names;
}

void require_known(const JsonPlace& place, std::string_view word, const std::string& what, const Names& known) {
  if (!contains(known, word))
    throw InputError({place.where(), what, "one of " + joined(known), nearest_text(word, known)});
}

AxisValue value_from_json(const JsonPlace& place) {
  JsonObject object(place);
  AxisValue value;
  value.name = object.at("name").string();
  value.description = object.at("description").string();
  StackNumbers settings = settings_from_json(object.at("coefficients"), object.find("features"));
  value.coefficients = std::move(settings.coefficients);
  value.features = std::move(settings.features);
  object.finish();
  return value;
}

StackAxis axis_from_json(const JsonPlace& place) {
  JsonObject object(place);
  StackAxis axis;
  axis.name = object.at("name").string();
  axis.description = object.at("description").string();
  const JsonPlace values = object.at("values");
  for (const JsonPlace& one : values.elements()) {
    AxisValue value = value_from_json(one);
    if (axis.find(value.name) != nullptr)
      throw InputError({one.where(), "value \"" + value.name + "\" appears twice", "one value of a name", ""});
    if (!axis.values.empty() && set_by(value) != set_by(axis.values.front()))
      throw InputError({one.where(), "sets other coefficients than the axis' first value",
                        joined(set_by(axis.values.front())) + " in this order", ""});
    axis.values.push_back(std::move(value));
  }
  if (axis.values.empty()) throw InputError({values.where(), "is empty", "at least one value", ""});
  object.finish();
  return axis;
}

/// Every coefficient and feature is set by the base or by one axis, never by both.
void require_partition(const StackAxisTable& table, const JsonPlace& root) {
  std::set<std::string, std::less<>> set;
  const auto take = [&](const Names& names, const std::string& place) {
    for (const std::string& name : names)
      if (!set.insert(name).second)
        throw InputError({root.where() + ":" + place, name + " is set twice", "one axis or the base sets it", ""});
  };
  const auto require = [&](std::string_view key) {
    if (!set.contains(key))
      throw InputError({root.where(), std::string(key) + " is set nowhere", "one axis or the base sets it", ""});
  };
  take(names_of(table.base), "/base");
  take(names_of(table.base_features), "/features");
  for (std::size_t i = 0; i < table.axes.size(); ++i)
    take(set_by(table.axes[i].values.front()), "/axes/" + std::to_string(i));
  for (const CoefficientField<StackCalibration>& field : stack_fields) require(field.key);
  for (const FeatureField& field : stack_feature_fields()) require(field.key);
}

std::vector<AxisChoice> axis_choices_from_json(const JsonPlace& place, const StackAxisTable& table) {
  std::vector<AxisChoice> choices;
  for (const auto& [key, word] : JsonObject(place).members()) {
    require_known(word, key, "is no axis of software stacks", table.axis_names());
    const std::string& value = word.string();
    require_known(word, value, "\"" + value + "\"", table.find(key)->value_names());
    choices.push_back({key, value});
  }
  return choices;
}

/// A stack that is like no other leaves nothing open.
void require_whole(const SoftwareStack& stack, const StackAxisTable& table, const JsonPlace& choices) {
  Names own = names_of(stack.coefficients);
  for (std::string& feature : names_of(stack.features)) own.push_back(std::move(feature));
  for (const StackAxis& axis : table.axes) {
    const bool chosen = std::any_of(stack.axis_choices.begin(), stack.axis_choices.end(),
                                    [&](const AxisChoice& choice) { return choice.axis == axis.name; });
    if (chosen) continue;
    for (const std::string& name : set_by(axis.values.front()))
      if (!contains(own, name))
        throw InputError({choices.where(), "axis \"" + axis.name + "\" is missing, and " + name + " with it",
                          "one of " + joined(axis.value_names()) + ", or \"like\": a stack that decides it", ""});
  }
}

Releases releases_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Releases releases{object.at("oldest").string(), object.at("newest").string()};
  object.finish();
  return releases;
}

GradientDefault gradients_from_json(const JsonPlace& place) {
  JsonObject object(place);
  GradientDefault gradients;
  gradients.format = choice_from_json(object.at("format"), all_number_formats);
  for (const JsonPlace& recipe : object.at("precisions").elements())
    gradients.precisions.push_back(choice_from_json(recipe, all_precision_recipes));
  gradients.source = object.at("source").string();
  object.finish();
  return gradients;
}

Json value_json(const AxisValue& value) {
  Json::Object object{{"name", value.name}, {"description", value.description}};
  if (!value.features.empty()) object.emplace_back("features", features_json(value.features));
  object.emplace_back("coefficients", coefficients_json(value.coefficients));
  return object;
}

Json gradients_json(const GradientDefault& gradients) {
  const auto recipe_json = [](PrecisionRecipe recipe) { return to_text(recipe); };
  return Json::Object{{"format", to_text(gradients.format)},
                      {"precisions", json_array(gradients.precisions, recipe_json)},
                      {"source", gradients.source}};
}

}  // namespace

StackAxisTable stack_axes_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.traits/1");
  StackAxisTable table;
  table.description = object.at("description").string();
  StackNumbers base = settings_from_json(object.at("base"), object.find("features"));
  table.base = std::move(base.coefficients);
  table.base_features = std::move(base.features);
  for (const JsonPlace& place : object.at("axes").elements()) {
    StackAxis axis = axis_from_json(place);
    if (table.find(axis.name) != nullptr)
      throw InputError({place.where(), "axis \"" + axis.name + "\" appears twice", "one axis of a name", ""});
    table.axes.push_back(std::move(axis));
  }
  table.regimes = regimes_from_json(object.at("regimes"));
  object.finish();
  require_partition(table, root);
  return table;
}

SoftwareStack software_stack_from_json(const JsonPlace& root, const StackAxisTable& table, const Names& stacks) {
  JsonObject object = open_document(root, "plumbline.stack/1");
  SoftwareStack stack;
  const JsonPlace name = object.at("name");
  stack.name = name.string();
  if (stack.name.empty() || stack.name.find('/') != std::string::npos)
    throw InputError({name.where(), "\"" + stack.name + "\"", "a name without a slash", ""});
  if (const auto aliases = object.find("aliases"))
    for (const JsonPlace& alias : aliases->elements()) stack.aliases.push_back(alias.string());
  stack.framework = object.at("framework").string();
  if (const auto releases = object.find("releases")) stack.releases = releases_from_json(*releases);
  stack.description = object.at("description").string();
  if (const auto like = object.find("like")) {
    stack.like = like->string();
    if (!contains(stacks, stack.like))
      throw InputError({like->where(), "\"" + stack.like.substr(0, 60) + "\" is no stack of the catalogue",
                        "a name of plan stacks", nearest_text(stack.like, stacks)});
  }
  const JsonPlace choices = object.at("traits");
  stack.axis_choices = axis_choices_from_json(choices, table);
  StackNumbers own = settings_from_json(object.find("coefficients"), object.find("features"));
  stack.coefficients = std::move(own.coefficients);
  stack.features = std::move(own.features);
  if (const auto gradients = object.find("gradients")) stack.gradients = gradients_from_json(*gradients);
  if (const auto residuals = object.find("residuals")) stack.residuals = residuals_from_json(*residuals);
  if (const auto device = object.find("device")) stack.device = device_calibration_from_json(*device);
  object.finish();
  if (stack.like.empty()) require_whole(stack, table, choices);
  return stack;
}

Json stack_axes_json(const StackAxisTable& table) {
  const auto axis_json = [](const StackAxis& axis) {
    return Json::Object{
        {"name", axis.name}, {"description", axis.description}, {"values", json_array(axis.values, value_json)}};
  };
  return Json::Object{{"format", "plumbline.traits/1"},
                      {"description", table.description},
                      {"base", coefficients_json(table.base)},
                      {"features", features_json(table.base_features)},
                      {"axes", json_array(table.axes, axis_json)},
                      {"regimes", regimes_json(table.regimes)}};
}

Json software_stack_json(const SoftwareStack& stack) {
  Json::Object object{{"format", "plumbline.stack/1"}, {"name", stack.name}};
  if (!stack.aliases.empty()) object.emplace_back("aliases", json_array(stack.aliases));
  object.emplace_back("framework", stack.framework);
  if (stack.releases)
    object.emplace_back("releases",
                        Json::Object{{"oldest", stack.releases->oldest}, {"newest", stack.releases->newest}});
  object.emplace_back("description", stack.description);
  if (!stack.like.empty()) object.emplace_back("like", stack.like);
  Json::Object choices;
  for (const AxisChoice& choice : stack.axis_choices) choices.emplace_back(choice.axis, choice.value);
  object.emplace_back("traits", std::move(choices));
  if (!stack.features.empty()) object.emplace_back("features", features_json(stack.features));
  object.emplace_back("coefficients", coefficients_json(stack.coefficients));
  if (stack.gradients) object.emplace_back("gradients", gradients_json(*stack.gradients));
  if (stack.residuals) object.emplace_back("residuals", residuals_json(*stack.residuals));
  if (stack.device) object.emplace_back("device", calibration_json(*stack.device));
  return object;
}

}  // namespace plumbline
