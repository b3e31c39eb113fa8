#pragma once
/// \file split.h: layers of pipeline stages by Megatron-LM's flags, from and to a number for each chunk.
///
/// An even split of layers that do not divide counts the embedding and the loss as a layer each, or the loss alone,
/// where that divides (--account-for-...-in-pipeline-split), as core/plan/stage_split.h does; else it is a layout.
/// Source: megatron/training/arguments.py, validate_args; megatron/core/transformer/transformer_block.py,
/// get_num_layers_to_build. Checked against: tests/unit/planner/frameworks/megatron/launch_files_test.cpp.

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline::megatron {

/// Flags for an even split of `layers` (0: not known) that does not divide.
[[nodiscard]] Json::Object split_flags(const LaunchSettings& settings, std::int64_t layers);
/// Virtual stages and layers of each chunk from all flags that say them; an even split leaves the layers empty.
/// Throws InputError (the flag).
void read_split(const Json& flags, LaunchSettings& settings);

}  // namespace plumbline::megatron
