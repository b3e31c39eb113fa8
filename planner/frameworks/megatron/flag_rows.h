#pragma once
/// \file flag_rows.h: the rows of Megatron-LM's flags, in four tables.
///
/// Source: megatron/training/arguments.py and the dataclasses that it makes flags of (model_parallel_config.py,
/// transformer_config.py, training_config.py, common_config.py), at the revision that the record names.
/// Not modelled: the rows of other_flags() that change memory or time.
/// Checked against: tests/unit/planner/frameworks/megatron/launch_files_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline::megatron {

/// Files of Megatron-LM that rows name as their source.
inline constexpr std::string_view model_parallel_source = "megatron/core/model_parallel_config.py";
inline constexpr std::string_view transformer_source = "megatron/core/transformer/transformer_config.py";
inline constexpr std::string_view arguments_source = "megatron/training/arguments.py";
inline constexpr std::string_view common_source = "megatron/training/config/common_config.py";
inline constexpr std::string_view checkpoint_source = "megatron/training/checkpointing.py";
inline constexpr std::string_view training_source = "megatron/training/config/training_config.py";

/// Flags that say a strategy or a recipe.
[[nodiscard]] std::vector<LaunchKey> strategy_flags();
[[nodiscard]] std::vector<LaunchKey> recipe_flags();
/// Leaves the overlap to the stack where it changes nothing: no rank shares states, or nothing updated is gathered.
void clear_idle_overlap(LaunchSettings& settings);
/// Flags that choose what of the software runs: CUDA graphs, overlap of tensor-parallel collectives.
[[nodiscard]] std::vector<LaunchKey> stack_flags();
/// Whether that overlap is asked for where there is something to hide: arguments.py asserts sequence parallelism.
[[nodiscard]] bool overlaps_tensor_collectives(const LaunchSettings& settings);
/// Whether layers run again whole: --recompute-granularity full.
[[nodiscard]] bool recomputes_layers(const LaunchSettings& settings);
/// Why graphs of layers do not start, in a sentence; empty: nothing hinders them.
[[nodiscard]] std::string missing_for_graphs(const LaunchSettings& settings);
/// What a mixture's graphs assume, in a sentence; empty: nothing.
[[nodiscard]] std::string assumed_for_graphs(const LaunchSettings& settings);
/// Whether files of Megatron's settings ask for a choice (LaunchTarget::says_choice).
[[nodiscard]] bool says_choice(const StackChoiceField& field, const LaunchSettings& settings);
/// Of the network (shape.h reads and writes them), of torchrun and Slurm, and those that have no value here.
[[nodiscard]] std::vector<LaunchKey> other_flags();

}  // namespace plumbline::megatron
