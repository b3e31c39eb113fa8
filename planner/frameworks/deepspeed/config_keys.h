#pragma once
/// \file config_keys.h: the keys of ds_config.json, DeepSpeed's configuration of an engine, in both directions.
///
/// Source: deepspeed/runtime of deepspeedai/DeepSpeed, the files that the rows name. Checked against:
/// tests/unit/planner/frameworks/deepspeed/launch_files_test.cpp, tests/data/launch/check_deepspeed.py.

#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

/// The first of the releases that were read whose optimizer.type may be Muon.
inline constexpr std::string_view deepspeed_with_muon = "0.17.6";

[[nodiscard]] const std::vector<LaunchKey>& deepspeed_config_keys();

/// The tree without what leaves a value to the script ("auto", of Hugging Face) and what says no more than DeepSpeed's
/// defaults: `usual` counts the latter. Old spellings ("bfloat16", "zero_optimization": true) become the present ones.
[[nodiscard]] Json essential_config(const Json& tree, std::int64_t& usual);

}  // namespace plumbline
