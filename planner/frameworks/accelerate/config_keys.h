#pragma once
/// \file config_keys.h: the keys of the YAML that `accelerate launch --config_file` reads, in both directions.
///
/// Source: src/accelerate/commands/config/config_args.py, commands/launch.py, parallelism_config.py and
/// utils/dataclasses.py of huggingface/accelerate. Checked against:
/// tests/unit/planner/frameworks/accelerate/launch_files_test.cpp, tests/data/launch/check_accelerate.py.

#include <vector>

#include "planner/frameworks/launch/launch_key.h"
#include "planner/frameworks/launch/usual_values.h"

namespace plumbline {

/// Which of its back ends a run uses (`distributed_type`).
enum class AccelerateKind : std::uint8_t { one_process, multi_gpu, fsdp, deepspeed };
[[nodiscard]] AccelerateKind accelerate_kind(const LaunchSettings& settings);

[[nodiscard]] const std::vector<LaunchKey>& accelerate_config_keys();
[[nodiscard]] const std::vector<UsualValue>& accelerate_usual_values();

}  // namespace plumbline
