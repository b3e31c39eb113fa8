#pragma once
/// \file run_settings.h: what decides the training of a run, as its checkpoints keep it: one row for each setting.
///
/// Checked against: tests/integration/resume_test.py (every setting, changed and overridden).

#include "runtime/run/trainer.h"

namespace plumbline {

[[nodiscard]] TrainingSettings settings_of(const TrainingJob& job, const RunOptions& options);
/// The names that `settings_of` gives, in its order.
[[nodiscard]] std::vector<std::string> setting_names();

}  // namespace plumbline
