#pragma once
/// \file plan_json.h: plans in and out: the contract that scripts rely on ("plumbline.plan/1").

#include "core/io/json.h"
#include "core/plan/plan.h"

namespace plumbline {

inline constexpr std::string_view plan_format = "plumbline.plan/1";

[[nodiscard]] Json to_json(const Plan& plan);
/// Strict. Reads what a plan is priced from (model, machine, training, strategy); layout, prediction and verdict are
/// checked for their keys but not trusted: they follow from the rest. "launch" and "recipe" of a plan file are left to
/// those who price and run it (planner/session/plan_file.h, runtime/run/recipe.h). Throws InputError.
[[nodiscard]] Plan plan_from_json(const JsonPlace& root);

}  // namespace plumbline
