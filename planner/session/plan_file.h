#pragma once
/// \file plan_file.h: a plan as a file that a launcher needs nothing beside: the plan and what follows from it
/// ("launch", planner/launch/launch_json.h).
///
/// Checked against: tests/integration/launcher_test.py, tests/unit/planner/session/plan_file_test.cpp.

#include <filesystem>
#include <string>

#include "core/io/json.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// The plan of a file, and the file as a whole. Paths of a network or machine that are relative are taken from the
/// file's folder where something is there, else from the working folder. Throws InputError or EnvironmentError.
[[nodiscard]] PlanRequest read_plan_request(const std::string& file);

/// The same of a text, called `name` in messages.
[[nodiscard]] PlanRequest plan_request_of(const std::string& text, const std::string& name);

/// The same plan with relative paths of its network's and machine's files as they are named from `folder`; empty: the
/// plan itself.
[[nodiscard]] Plan named_from(Plan plan, const std::filesystem::path& folder);
/// What --out writes.
[[nodiscard]] std::string plan_file_text(const Plan& plan, const Json& launch, const Json& recipe);
/// Of the answer to a request, with the recipe of its plan file as it was read; without one it says null.
[[nodiscard]] std::string plan_text(const EstimateRequest& request, const PricedQuestion& asked);
/// Of a plan that a search found; it says no recipe.
[[nodiscard]] std::string plan_text(const Plan& plan);

/// The config of Hugging Face that the network was read from, as JSON text; empty: there is none.
[[nodiscard]] std::string config_of(const PricedQuestion& asked);
/// Of the strategy asked about.
[[nodiscard]] Json launch_of(const PricedQuestion& asked);
/// Of a plan that a search found: of what its names mean now. Throws InputError as `estimate`.
[[nodiscard]] Json launch_of(const Plan& plan);

/// Throws InputError at the first value of the file's layout or launch that does not follow from its strategy. A file
/// of another version of this program, or of a network or machine that has changed since, is not compared; nor is what
/// is predicted of a recompute.
void require_as_written(const PlanRequest& request, const PricedQuestion& now);

}  // namespace plumbline::session
