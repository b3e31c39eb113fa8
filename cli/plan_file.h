#pragma once
/// \file plan_file.h: plan files as verbs read and write them: the plan, what follows from it, and its recipe.
///
/// Checked against: tests/integration/launcher_test.py, recipe_test.py.

#include <string>

#include "planner/session/plan_file.h"
#include "runtime/run/recipe.h"

namespace plumbline {

/// What a plan file says, and its name. Throws InputError, for its recipe too.
[[nodiscard]] session::PlanRequest plan_request(const std::string& file);
/// What a run is to train with. Throws InputError.
[[nodiscard]] Recipe recipe_of(const session::PlanRequest& request);

/// What --out writes of the answer to a request: with the recipe of its plan file, or the default one.
[[nodiscard]] std::string plan_file_text(const session::EstimateRequest& request, const session::PricedQuestion& asked);
/// Of a plan that a search found.
[[nodiscard]] std::string plan_file_text(const Plan& plan);

}  // namespace plumbline
