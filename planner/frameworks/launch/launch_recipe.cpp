#include "planner/frameworks/launch/launch_recipe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/syntax/arguments.h"

namespace plumbline {
namespace {

void take(const Json& said, std::optional<std::int64_t>& value) {
  if (const std::int64_t* const whole = said.if_integer()) value = *whole;
}
void take(const Json& said, std::optional<double>& value) {
  if (const std::int64_t* const whole = said.if_integer()) value = static_cast<double>(*whole);
  if (const double* const number = said.if_double()) value = *number;
}
void take(const Json& said, std::optional<std::string>& value) {
  if (const std::string* const text = said.if_string()) value = *text;
}
void take(const Json& said, std::optional<LearningRateShape>& value) {
  if (const std::string* const text = said.if_string()) value = learning_rate_shape_from_text(*text);
}

template <class Value>
Json json_of(const Value& value) {
  return Json(value);
}
Json json_of(LearningRateShape shape) { return Json(to_text(shape)); }

template <class Value>
bool is_same(const Value& a, const Value& b) {
  return a == b;
}
/// Some files say a rate as a share of another.
bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

std::string value_text(const Json& value) {
  if (const std::string* const text = value.if_string()) return *text;
  std::string text = to_json_text(value, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

LaunchRecipe launch_recipe_from_json(const Json& json) {
  LaunchRecipe recipe;
  for_each_recipe_member([&](const char* name, auto member) {
    if (const Json* const said = json.find(name)) take(*said, recipe.*member);
  });
  return recipe;
}

Json::Object to_json(const LaunchRecipe& recipe) {
  Json::Object object;
  for_each_recipe_member([&](const char* name, auto member) {
    if (recipe.*member) object.emplace_back(name, json_of(*(recipe.*member)));
  });
  return object;
}

std::string to_text(const LaunchRecipe& recipe) {
  std::string text;
  for (const auto& [name, value] : to_json(recipe)) text += (text.empty() ? "" : ", ") + name + " " + value_text(value);
  return text;
}

std::vector<std::string> left_out(const LaunchRecipe& asked, const LaunchRecipe& written) {
  std::vector<std::string> all;
  for_each_recipe_member([&](const char* name, auto member) {
    if (!(asked.*member)) return;
    if (!(written.*member) || !is_same(*(asked.*member), *(written.*member)))
      all.push_back(std::string(name) + " " + value_text(json_of(*(asked.*member))));
  });
  return all;
}

std::optional<std::int64_t> checkpoint_interval(const LaunchRecipe& recipe) {
  if (recipe.checkpoint_every) return recipe.checkpoint_every;
  return recipe.checkpoint ? recipe.steps : std::nullopt;
}

std::optional<std::string> checkpoint_folder(const LaunchRecipe& recipe) {
  if (!checkpoint_interval(recipe)) return std::nullopt;
  return recipe.checkpoint.value_or("checkpoints");
}

double rate_of_share(double share, double peak) {
  const double rate = share * peak;
  if (rate == 0 || !std::isfinite(rate)) return rate;
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), rate, std::chars_format::scientific, 11).ptr;
  double rounded = rate;
  std::from_chars(text.data(), end, rounded);
  return rounded;
}

LaunchKey recipe_number(std::string_view path, std::string_view source, std::optional<double> LaunchRecipe::*member) {
  return {.path = path,
          .source = source,
          .write = [member](const LaunchSettings& s) { return written(s.recipe.*member); },
          .read = [member](const Json& v, LaunchSettings& s) { s.recipe.*member = number_value(v); }};
}

LaunchKey recipe_count(std::string_view path, std::string_view source,
                       std::optional<std::int64_t> LaunchRecipe::*member, std::int64_t smallest) {
  return {
      .path = path,
      .source = source,
      .write = [member](const LaunchSettings& s) { return written(s.recipe.*member); },
      .read = [member, smallest](const Json& v, LaunchSettings& s) { s.recipe.*member = count_value(v, smallest); }};
}

LaunchKey recipe_shape(std::string_view path, std::string_view source, std::vector<NamedShape> names) {
  return {.path = path,
          .source = source,
          .write = [names](const LaunchSettings& s) -> std::optional<Json> {
            for (const NamedShape& one : names)
              if (s.recipe.lr_schedule == one.shape) return Json(one.name);
            return std::nullopt;
          },
          .read =
              [names](const Json& v, LaunchSettings& s) {
                for (const NamedShape& one : names)
                  if (one.name == word_value(v)) s.recipe.lr_schedule = one.shape;
              },
          .understands =
              [names](const Json& v) {
                return std::any_of(names.begin(), names.end(), [&](const NamedShape& one) {
                  return v.if_string() != nullptr && one.name == *v.if_string();
                });
              }};
}

LaunchKey recipe_interval(std::string_view path, std::string_view source) {
  return {.path = path,
          .source = source,
          .write = [](const LaunchSettings& s) { return written(checkpoint_interval(s.recipe)); },
          .read = [](const Json& v, LaunchSettings& s) { s.recipe.checkpoint_every = count_value(v, 1); },
          .understands = [](const Json& v) { return v.if_integer() != nullptr && *v.if_integer() > 0; }};
}

LaunchKey recipe_folder(std::string_view path, std::string_view source) {
  return {.path = path,
          .source = source,
          .write = [](const LaunchSettings& s) { return written(checkpoint_folder(s.recipe)); },
          .read = [](const Json& v, LaunchSettings& s) { s.recipe.checkpoint = word_value(v); },
          .understands =
              [](const Json& v) { return v.if_string() != nullptr && !v.if_string()->empty() && !is_unresolved(v); }};
}

}  // namespace plumbline
