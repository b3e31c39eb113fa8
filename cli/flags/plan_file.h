#pragma once
/// \file plan_file.h: plan files as verbs read and write them: the plan, what follows from it, and its recipe.
///
/// Checked against: tests/integration/launcher_test.py, recipe_test.py.

#include <filesystem>
#include <string>

#include "planner/frameworks/launch/launch_settings.h"
#include "planner/session/plan_file.h"
#include "runtime/run/recipe.h"

namespace plumbline {

/// What a plan file says, and its name. Throws InputError, for its recipe too.
[[nodiscard]] session::PlanRequest plan_request(const std::string& file);
/// What a run is to train with. Throws InputError.
[[nodiscard]] Recipe recipe_of(const session::PlanRequest& request);

/// What --out writes of the answer to a request: with the recipe of its plan file, or the default one. Files that the
/// plan names by a relative path are named from `folder`, in which it will be; empty: from here.
[[nodiscard]] std::string plan_file_text(const session::EstimateRequest& request, const session::PricedQuestion& asked,
                                         const std::filesystem::path& folder);
/// Of launch files: the default recipe with the numbers that they say. Throws InputError for one that no run takes.
[[nodiscard]] std::string plan_file_text(const session::PricedQuestion& asked, const LaunchRecipe& said,
                                         const std::filesystem::path& folder);
/// Of a plan that a search found.
[[nodiscard]] std::string plan_file_text(const Plan& plan, const std::filesystem::path& folder);

}  // namespace plumbline
