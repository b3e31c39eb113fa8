#include "runtime/run/run_settings.h"

#include <array>

#include "runtime/checkpoint/checksum.h"
#include "runtime/training/optimizer_numbers.h"

namespace plumbline {
namespace {

std::string data_text(const TokenSource& data) {
  Checksum checksum;
  data.tokens.read_in_parts(0, data.tokens.size(),
                            [&](std::span<const std::int32_t> part) { checksum.add(std::as_bytes(part)); });
  return std::to_string(data.tokens.size()) + " tokens with XXH64 " + checksum.text();
}

struct SettingRow {
  std::string_view name;
  Json (*value)(const TrainingJob& job, const RunOptions& options);
};

/// To add a setting: one row. It is stored, continued and compared from then on, but where it is null: what a run does
/// not read.
constexpr std::array rows{
    SettingRow{"model", [](const TrainingJob& j, const RunOptions&) -> Json { return j.network.fingerprint; }},
    SettingRow{"optimizer",
               [](const TrainingJob& j, const RunOptions&) -> Json { return to_text(j.training.optimizer); }},
    SettingRow{"precision",
               [](const TrainingJob& j, const RunOptions&) -> Json { return to_text(j.training.precision); }},
    SettingRow{"seq-len", [](const TrainingJob& j, const RunOptions&) -> Json { return j.training.sequence_length; }},
    SettingRow{"global-batch", [](const TrainingJob& j, const RunOptions&) -> Json { return j.training.global_batch; }},
    SettingRow{"seed",
               [](const TrainingJob&, const RunOptions& o) -> Json { return static_cast<std::int64_t>(o.seed); }},
    SettingRow{"data", [](const TrainingJob&, const RunOptions& o) -> Json { return data_text(o.data); }},
    SettingRow{"held-out", [](const TrainingJob&, const RunOptions& o) -> Json { return o.data.held_out; }},
    SettingRow{"learning-rate", [](const TrainingJob& j, const RunOptions&) -> Json { return j.learning_rate.peak; }},
    SettingRow{"lr-schedule",
               [](const TrainingJob& j, const RunOptions&) -> Json { return to_text(j.learning_rate.shape); }},
    SettingRow{"schedule-steps", [](const TrainingJob& j, const RunOptions&) -> Json { return j.learning_rate.steps; }},
    SettingRow{"warmup-steps",
               [](const TrainingJob& j, const RunOptions&) -> Json { return j.learning_rate.warmup_steps; }},
    SettingRow{"final-learning-rate",
               [](const TrainingJob& j, const RunOptions&) -> Json {
                 const LearningRateSchedule& rate = j.learning_rate;
                 if (!has_final_rate(rate.shape) || rate.final_rate == final_rate_share * rate.peak) return nullptr;
                 return rate.final_rate;
               }},
    SettingRow{"lr-decay",
               [](const TrainingJob& j, const RunOptions&) -> Json {
                 if (!has_decay_factor(j.learning_rate.shape)) return nullptr;
                 return j.learning_rate.decay_factor;
               }},
    SettingRow{"lr-decay-every",
               [](const TrainingJob& j, const RunOptions&) -> Json {
                 if (j.learning_rate.shape != LearningRateShape::step) return nullptr;
                 return j.learning_rate.decay_every;
               }},
    SettingRow{"init", [](const TrainingJob&, const RunOptions& o) -> Json { return to_text(o.initialisation); }},
    SettingRow{"rounding",
               [](const TrainingJob& j, const RunOptions&) -> Json {
                 if (!rounds_weights(j.training.formats())) return nullptr;
                 return to_text(j.optimizer.rounding);
               }},
    SettingRow{"fp8-scaling",
               [](const TrainingJob& j, const RunOptions&) -> Json {
                 if (!is_fp8(j.training.precision)) return nullptr;
                 return to_text(j.fp8_scaling);
               }},
    SettingRow{"patience", [](const TrainingJob&, const RunOptions& o) -> Json { return o.evaluation.patience; }},
    SettingRow{"evaluate-every",
               [](const TrainingJob&, const RunOptions& o) -> Json {
                 if (o.evaluation.patience == 0) return nullptr;
                 return o.evaluation.every;
               }},
    SettingRow{"expert-routing", [](const TrainingJob& j, const RunOptions&) -> Json { return to_text(j.routing); }}};

}  // namespace

TrainingSettings settings_of(const TrainingJob& job, const RunOptions& options) {
  TrainingSettings settings;
  for (const SettingRow& row : rows) {
    Json value = row.value(job, options);
    if (!value.is_null()) settings.push_back({std::string(row.name), std::move(value)});
  }
  for (const auto& [name, value] : optimizer_record(job.training.optimizer, job.optimizer).numbers)
    settings.push_back({name, value});
  if (find_setting(settings, "clip-value") == nullptr) settings.push_back({"clip-value", job.optimizer.clip_value});
  return settings;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const SettingRow& row : rows) names.emplace_back(row.name);
  for (const OptimizerNumber& number : optimizer_numbers()) names.emplace_back(number.name);
  names.emplace_back("clip");
  names.emplace_back("clip-value");
  return names;
}

}  // namespace plumbline
