#pragma once
/// \file training_script.h: a training script for Accelerate, and how `accelerate launch` starts it.
///
/// Source: huggingface/accelerate examples/torch_native_parallelism/nd_parallel.py, commands/launch.py.
/// Checked against: tests/unit/planner/frameworks/accelerate/launch_files_test.cpp.

#include <string>
#include <vector>

#include "planner/frameworks/launch/launch_target.h"

namespace plumbline {

[[nodiscard]] std::string accelerate_training_script(const LaunchSettings& settings);

/// launch.sh (one process per GPU of this node), job.slurm and job.yaml (Kubeflow PyTorchJob), which run it on each.
[[nodiscard]] std::vector<LaunchFile> accelerate_launchers(const std::vector<std::string>& words,
                                                           const LaunchSettings& settings);

}  // namespace plumbline
