#pragma once
/// \file trainer_other_flags.h: flags of Trainer scripts and of what starts them that have no value of ours.
///
/// Model: an allow-list of flags that change neither memory nor time, and a list of those that change one and are not
/// modelled; an import names those, and every flag that is in neither list.
/// Source: transformers 4.57 src/transformers/training_args.py, examples/pytorch/language-modeling/run_clm.py, trl
/// trl/trainer/model_config.py, torch/distributed/run.py, deepspeed/launcher/runner.py, sbatch(1).
/// Checked against: tests/unit/planner/frameworks/launch/trainer_flags_test.cpp.

#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

/// Files of transformers that rows name as their source.
inline constexpr std::string_view trainer_source = "src/transformers/training_args.py";
inline constexpr std::string_view run_clm_source = "examples/pytorch/language-modeling/run_clm.py";

[[nodiscard]] std::vector<LaunchKey> trainer_other_flags();
/// torchrun, `deepspeed`, Slurm: how many nodes and processes, and what changes nothing.
[[nodiscard]] std::vector<LaunchKey> starter_flags();

}  // namespace plumbline
