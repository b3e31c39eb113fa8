#pragma once
/// \file flavors.h: networks of our catalogue that torchtitan has, by its names.
///
/// Source: torchtitan/models/*/__init__.py at v0.2.2 (flavors, pipelining_fn), torchtitan/models/*/config_registry.py
/// on main in August 2026 (recipes), scripts/download_hf_assets.py (folders). Layers, widths and experts of both sides
/// were compared by tests/data/launch/torchtitan/check_flavors.py.

#include <string_view>

namespace plumbline::torchtitan {

struct Flavor {
  std::string_view network;     ///< of our catalogue
  std::string_view checkpoint;  ///< folder in ./assets/hf: what Hugging Face calls it
  std::string_view model;       ///< model.name
  std::string_view flavor;      ///< model.flavor
  std::string_view recipe;      ///< function of the model's config_registry to start from
  std::string_view recipe_flavor;
};

/// By a name or alias of the catalogue. Null: torchtitan has no such network.
[[nodiscard]] const Flavor* flavor_of(std::string_view network);
/// By torchtitan's names; of several networks of one flavor that of the folder, else the first. Variants of the
/// attention ("8B_flex") are the same network.
[[nodiscard]] const Flavor* flavor_named(std::string_view model, std::string_view flavor, std::string_view folder);
/// By the recipe's function.
[[nodiscard]] const Flavor* flavor_of_recipe(std::string_view recipe);
/// Whether torchtitan v0.2.2 splits the model into pipeline stages.
[[nodiscard]] bool has_pipelines(std::string_view model);

}  // namespace plumbline::torchtitan
