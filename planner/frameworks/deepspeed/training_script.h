#pragma once
/// \file training_script.h: the Python lines that a ds_config.json needs: what DeepSpeed takes as arguments of Python.
///
/// The degree of a pipeline (PipelineModule), sequence parallelism (UlyssesSPAttentionHF), recompute outside of
/// pipelines and adapters are no keys of DeepSpeed's JSON, or keys that only a script acts
/// on. Source: deepspeed/runtime/pipe/module.py, deepspeed/runtime/sequence_parallel/ulysses_sp.py,
/// deepspeed/__init__.py.

#include <string>

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline {

/// train.py for these settings. Degrees are read from ds_config.json, so that they are said once.
[[nodiscard]] std::string deepspeed_training_script(const LaunchSettings& settings);

}  // namespace plumbline
