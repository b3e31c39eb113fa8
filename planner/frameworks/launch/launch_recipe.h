#pragma once
/// \file launch_recipe.h: what a plan's recipe says to launch files, and launch files to a plan: once, by its names.
///
/// What nobody said is empty: neither an export nor an import invents it. Not carried: data, first weights, clipping by
/// value, loss scaling, decay by factors. Checked against: tests/unit/planner/frameworks/launch/launch_recipe_test.cpp
/// (every member, by every target and back).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "core/training/learning_rate_shape.h"
#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

/// visit(name, member) for every member, by its name in a plan file's recipe (runtime/run/recipe.h).
template <typename Visit>
constexpr void for_each_recipe_member(Visit visit) {
  visit("steps", &LaunchRecipe::steps);
  visit("seed", &LaunchRecipe::seed);
  visit("learning_rate", &LaunchRecipe::learning_rate);
  visit("final_learning_rate", &LaunchRecipe::final_learning_rate);
  visit("lr_schedule", &LaunchRecipe::lr_schedule);
  visit("schedule_steps", &LaunchRecipe::schedule_steps);
  visit("warmup_steps", &LaunchRecipe::warmup_steps);
  visit("clip", &LaunchRecipe::clip);
  visit("beta1", &LaunchRecipe::beta1);
  visit("beta2", &LaunchRecipe::beta2);
  visit("epsilon", &LaunchRecipe::epsilon);
  visit("momentum", &LaunchRecipe::momentum);
  visit("weight_decay", &LaunchRecipe::weight_decay);
  visit("checkpoint", &LaunchRecipe::checkpoint);
  visit("checkpoint_every", &LaunchRecipe::checkpoint_every);
}

/// The recipe of a plan file, which has been read as one; null and absent keys are empty.
[[nodiscard]] LaunchRecipe launch_recipe_from_json(const Json& recipe);
/// The members that are said, in the order above.
[[nodiscard]] Json::Object to_json(const LaunchRecipe& recipe);
/// "learning_rate 0.0003, clip 0.5"; empty: nothing is said.
[[nodiscard]] std::string to_text(const LaunchRecipe& recipe);
/// Names and values of what `asked` says and `written` does not say the same: "final_learning_rate 3e-05".
[[nodiscard]] std::vector<std::string> left_out(const LaunchRecipe& asked, const LaunchRecipe& written);

/// Steps between checkpoints: those that are said, or all of the run where only a folder is; empty: none are written.
[[nodiscard]] std::optional<std::int64_t> checkpoint_interval(const LaunchRecipe& recipe);
/// Where they are written; empty: none are.
[[nodiscard]] std::optional<std::string> checkpoint_folder(const LaunchRecipe& recipe);

/// A rate that a file says as a share of its peak, to the 12 digits that such shares mean.
[[nodiscard]] double rate_of_share(double share, double peak);

/// Rows of a target's table that carry one member.
[[nodiscard]] LaunchKey recipe_number(std::string_view path, std::string_view source,
                                      std::optional<double> LaunchRecipe::*member);
[[nodiscard]] LaunchKey recipe_count(std::string_view path, std::string_view source,
                                     std::optional<std::int64_t> LaunchRecipe::*member, std::int64_t smallest = 0);
struct NamedShape {
  LearningRateShape shape;
  std::string_view name;
};
/// The first name of a shape is written; names that are not listed say a schedule that no recipe has.
[[nodiscard]] LaunchKey recipe_shape(std::string_view path, std::string_view source, std::vector<NamedShape> names);
/// Interval and folder of checkpoints.
[[nodiscard]] LaunchKey recipe_interval(std::string_view path, std::string_view source);
[[nodiscard]] LaunchKey recipe_folder(std::string_view path, std::string_view source);

}  // namespace plumbline
