#pragma once
/// \file plan_json.h: plans in and out: the contract that scripts rely on ("plumbline.plan/1").

#include "core/io/json.h"
#include "core/plan/plan.h"

namespace plumbline {

inline constexpr std::string_view plan_format = "plumbline.plan/1";

[[nodiscard]] Json to_json(const Plan& plan);
/// Strict. Reads what a plan is priced from (model, machine, training, strategy); layout, prediction and verdict are
/// checked for their keys but not trusted: they follow from the rest. Throws InputError.
[[nodiscard]] Plan plan_from_json(const JsonPlace& root);
/// The same of a file. Throws InputError or EnvironmentError.
[[nodiscard]] Plan read_plan_file(const std::string& file);

}  // namespace plumbline
