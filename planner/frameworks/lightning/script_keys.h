#pragma once
/// \file script_keys.h: the keyword arguments of a script for Lightning's Trainer, in both directions.
///
/// A script says a run by its calls: Trainer(...), a strategy (DDPStrategy, FSDPStrategy, DeepSpeedStrategy,
/// ModelParallelStrategy), the data loader, and the LightningModule of the exported script, CausalLanguageModel.
/// Source: lightning/pytorch/trainer/trainer.py and strategies of Lightning 2.6.6. Checked against:
/// tests/unit/planner/frameworks/lightning/launch_files_test.cpp, tests/data/launch/check_lightning.py.

#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

/// The strategy of the Trainer that a run uses.
[[nodiscard]] std::string_view lightning_strategy(const LaunchSettings& settings);
/// Paths are "Trainer.devices".
[[nodiscard]] const std::vector<LaunchKey>& lightning_keys();
/// All functions and classes that the keys name.
[[nodiscard]] const std::vector<std::string_view>& lightning_calls();

}  // namespace plumbline
