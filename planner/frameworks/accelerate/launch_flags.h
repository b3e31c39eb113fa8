#pragma once
/// \file launch_flags.h: what `accelerate launch` takes on its command line: the keys of its YAML as flags.
///
/// "fsdp_config.fsdp_version" is --fsdp_version, "deepspeed_config.zero_stage" is --zero_stage; --use_fsdp,
/// --use_deepspeed and --multi_gpu say distributed_type.
/// Source: huggingface/accelerate 1.15.0 src/accelerate/commands/launch.py.
/// Checked against: tests/unit/planner/frameworks/accelerate/launch_flags_test.cpp.

#include <vector>

#include "planner/frameworks/launch/launch_key.h"
#include "planner/frameworks/launch/usual_values.h"

namespace plumbline {

[[nodiscard]] const std::vector<LaunchKey>& accelerate_launch_flags();
[[nodiscard]] const std::vector<UsualValue>& accelerate_usual_flags();

}  // namespace plumbline
