#pragma once
/// \file flag_rows.h: the rows of Megatron-LM's flags, in three tables.
///
/// Source: megatron/training/arguments.py and the dataclasses that it makes flags of (model_parallel_config.py,
/// transformer_config.py, training_config.py, common_config.py), at the revision that the record names.
/// Not modelled: the rows of other_flags() that change memory or time.
/// Checked against: tests/unit/planner/frameworks/megatron/launch_files_test.cpp.

#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline::megatron {

/// Flags that say a strategy or a recipe.
[[nodiscard]] std::vector<LaunchKey> strategy_flags();
[[nodiscard]] std::vector<LaunchKey> recipe_flags();
/// Of the network (shape.h reads and writes them), of torchrun and Slurm, and those that have no value here.
[[nodiscard]] std::vector<LaunchKey> other_flags();

}  // namespace plumbline::megatron
