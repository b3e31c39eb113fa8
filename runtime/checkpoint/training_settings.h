#pragma once
/// \file training_settings.h: what decides a training besides its layout over ranks, by the names of its flags: kept in
/// a checkpoint, so that a resumed run is the run that was begun.
///
/// Model: scalars under names; a run that goes on has the same ones, but for those that it says it overrides.
/// Not modelled: what follows from a setting, such as the final learning rate from its peak.
/// Checked against: tests/runtime/checkpoint/training_settings_test.cpp, tests/integration/resume_test.py.

#include <optional>

#include "core/io/json.h"

namespace plumbline {

struct TrainingSetting {
  std::string name;  ///< as its flag, without dashes
  Json value;        ///< a string or a number
};
using TrainingSettings = std::vector<TrainingSetting>;

/// The value of this name, or null pointer.
[[nodiscard]] const Json* find_setting(const TrainingSettings& settings, std::string_view name);
/// As a flag takes it.
[[nodiscard]] std::string flag_text(const Json& value);
/// Both: the stored value as its flag takes it, or nothing.
[[nodiscard]] std::optional<std::string> stored_flag(const TrainingSettings& settings, std::string_view name);

/// Throws InputError, in the name of `where`, for the first setting that is not the stored one and that `overrides`
/// does not name. A setting that was not stored, by an older program, contradicts nothing.
void require_settings(const TrainingSettings& stored, const TrainingSettings& now,
                      const std::vector<std::string>& overrides, const std::string& where);

}  // namespace plumbline
