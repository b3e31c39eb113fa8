#pragma once
/// \file recipe.h: torchtitan's configuration on main: a Python function that returns Trainer.Config, as a tree.
///
/// Written: a recipe of torchtitan's own, called, and an assignment for each key of the tree. Read: those assignments
/// ("config.training.steps = 1000"), whatever the variable is called, and which recipe is called; nothing is executed.
/// Source: torchtitan/models/llama3/config_registry.py and torchtitan/config/manager.py on main in August 2026.
/// Not read: values that are no literal, and keyword arguments of a Trainer.Config(...) that is written out.
/// Checked against: tests/unit/planner/frameworks/torchtitan/recipe_test.cpp; compiled by Python in
/// tests/integration/torchtitan_recipe_test.cpp.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline::torchtitan {

/// `tree` of the release "main" (launch_keys.h).
[[nodiscard]] std::string recipe_text(const Json& tree);
/// Throws InputError (`name`, line) for a text over 1 MiB, and where no assignment to a field of a config is found.
[[nodiscard]] Json read_recipe(std::string_view text, std::string_view name);

}  // namespace plumbline::torchtitan
