#include "runtime/checkpoint/training_settings.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"

namespace plumbline {

const Json* find_setting(const TrainingSettings& settings, std::string_view name) {
  const TrainingSetting* found = named(settings, name);
  return found == nullptr ? nullptr : &found->value;
}

std::string flag_text(const Json& value) {
  if (const std::string* text = value.if_string()) return *text;
  std::string text = to_json_text(value, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<std::string> stored_flag(const TrainingSettings& settings, std::string_view name) {
  const Json* const stored = find_setting(settings, name);
  return stored == nullptr ? std::nullopt : std::optional(flag_text(*stored));
}

void require_settings(const TrainingSettings& stored, const TrainingSettings& now,
                      const std::vector<std::string>& overrides, const std::string& where) {
  for (const TrainingSetting& setting : now) {
    const Json* const before = find_setting(stored, setting.name);
    if (before == nullptr || flag_text(*before) == flag_text(setting.value)) continue;
    if (std::find(overrides.begin(), overrides.end(), setting.name) != overrides.end()) continue;
    throw InputError(
        {where, "was trained with " + setting.name + " " + flag_text(*before) + ", not " + flag_text(setting.value),
         flag_text(*before) + ", or --override " + setting.name, ""});
  }
}

}  // namespace plumbline
