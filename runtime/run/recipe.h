#pragma once
/// \file recipe.h: the recipe of a plan file: what decides a training and no prediction depends on (learning rate and
/// its schedule, clipping, the optimizer's numbers, seed, data, checkpoints, loss scaling), by the names of run's
/// flags.
///
/// Answers: what a plan file carries, and what a run reads of it. Model: one key for each flag, '_' for '-'; null is
/// what the flag's default is. A run's flag comes first, then the checkpoint it goes on from, then the plan's recipe,
/// then the default. Not modelled: what is generated and evaluated.
/// Checked against: tests/integration/recipe_test.py (every key changes what is run, or is refused).

#include <string>

#include "core/training/training.h"
#include "runtime/checkpoint/training_settings.h"
#include "runtime/training/loss_scale.h"

namespace plumbline {

inline constexpr std::int64_t most_run_steps = 1'000'000'000;
/// AdamW at this size; Brown et al., arXiv:2005.14165, table 2.1 has 6e-4 at 125 M.
inline constexpr double default_learning_rate = 1e-3;
inline constexpr double largest_learning_rate = 100;
inline constexpr const char* default_schedule = "cosine";
inline constexpr const char* default_initialisation = "normal";
inline constexpr double largest_clip = 1e30;
inline constexpr double largest_held_out = 0.9;

struct Recipe {
  TrainingSettings settings;  ///< those that are not null, by the names of their flags
  LossScaleRule loss_scale;
};

/// Every key that a recipe of the optimizer and precision may have, each null: nobody said it.
[[nodiscard]] Json default_recipe(const Training& training);
/// Strict: unknown keys, values that are none, numbers that the optimizer does not read. Throws InputError.
[[nodiscard]] Recipe recipe_from_json(const JsonPlace& place, const Training& training);
/// The default recipe with `said`, by the names of keys; what the optimizer does not read is left out. Throws
/// InputError (`where`) for a number that no run takes.
[[nodiscard]] Json recipe_with(const TrainingSettings& said, const Training& training, const std::string& where);

/// The recipe of a whole plan file, called `name` in messages; one that says nothing where it has none. Throws
/// InputError.
[[nodiscard]] Recipe recipe_in(const Json& plan_file, const std::string& name, const Training& training);
/// The same as it is written there; the default one where it has none.
[[nodiscard]] Json written_recipe(const Json& plan_file, const Training& training);

}  // namespace plumbline
