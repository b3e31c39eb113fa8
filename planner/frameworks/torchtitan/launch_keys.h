#pragma once
/// \file launch_keys.h: the keys of torchtitan's configuration, as TOML (up to v0.2.2) and as a recipe (main).
///
/// Both are one tree: the recipe's config.training.steps is [training] steps.
/// Source: torchtitan/config/job_config.py at v0.2.2, with the names that releases since v0.1 had before;
/// torchtitan/config/configs.py on main in August 2026. Not modelled: data, checkpoints and metrics.
/// Checked against: tests/unit/planner/frameworks/torchtitan/launch_files_test.cpp; v0.2.2's own parser in development
/// (tests/data/launch/torchtitan/parse_toml.py).

#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline::torchtitan {

inline constexpr std::string_view toml_release = "0.2.2";
/// The first whose configuration is a Python recipe, with keys in samples as before.
inline constexpr std::string_view first_recipe_release = "0.3.0";
/// Whose keys count tokens.
inline constexpr std::string_view recipe_release = "main";

/// Reading checks types and takes what stands for itself.
[[nodiscard]] const std::vector<LaunchKey>& keys();
/// Takes from a tree that was read what several keys, or a default of torchtitan's, say together.
void settle(const Json& tree, LaunchSettings& settings, ImportNotes& notes);

/// The value at "table.key"; null pointer where there is none.
[[nodiscard]] const Json* value_at(const Json& tree, std::string_view path);

}  // namespace plumbline::torchtitan
