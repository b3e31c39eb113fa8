#include "planner/calibrate/fit_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/calibration_catalog.h"
#include "planner/validate/row_use.h"

namespace plumbline {
namespace {

// How much a row says about the constants that it depends on, alongside one dense run on A100 or H100: what the study's
// rows repeat within (V100 up to 1.8 times, new containers from release to release), and what is modelled least well.
constexpr double weight_uncertain_device = 0.6;
constexpr double weight_fine_tuning = 0.5;
constexpr double weight_mixture = 0.25;
constexpr double weight_inferred = 0.5;

RowClass class_of(const Question& question) {
  if (!question.facts().experts.empty()) return RowClass::mixture;
  const Device& device = slowest_device(question.cluster());
  const std::string calibration = calibration_of(device).name;
  if (calibration == "a100") return RowClass::a100_dense;
  if (calibration == "h100") return RowClass::h100_dense;
  if (calibration == "h100-500w") return RowClass::h100_500w_dense;
  if (device.architecture == DeviceArchitecture::volta) return RowClass::v100_dense;
  if (device.architecture == DeviceArchitecture::blackwell) return RowClass::blackwell_dense;
  return RowClass::other;
}

double weight_of(RowClass row_class, RowTrust trust, bool fine_tuning) {
  if (trust == RowTrust::doubtful) return 0;
  double weight = trust == RowTrust::inferred ? weight_inferred : 1;
  if (row_class == RowClass::mixture) return weight * weight_mixture;
  if (row_class == RowClass::v100_dense || row_class == RowClass::blackwell_dense || row_class == RowClass::other)
    weight *= weight_uncertain_device;
  return fine_tuning ? weight * weight_fine_tuning : weight;
}

bool is_fine_tuning(const RowFields& fields) {
  const std::string task = fields.word("task");
  return task.starts_with("sft") || task.starts_with("lora") || fields.number("lora_rank").value_or(0) > 0;
}

/// Variants of a stack that a launch chooses are answers to one question.
std::string ranking_question(const RowFields& fields, const std::string& model, const Question& question) {
  std::string key = model;
  for (const std::string& part :
       {question.cluster().name, std::to_string(question.devices()), std::to_string(question.training().global_batch),
        std::to_string(question.training().sequence_length), fields.word("precision"), fields.word("release"),
        fields.word("framework"), fields.word("task")})
    key += "|" + part;
  return key;
}

std::string model_of(const RowFields& fields, const RowQuestion& question) {
  const std::string name = fields.word("model");
  if (!name.empty() || !question.shape) return name;
  std::string text;
  for (const auto& [key, number] : question.shape->numbers) text += key + "=" + std::to_string(number) + ";";
  return text;
}

FitRow row_of(const MeasuredRow& row, const std::string& source, ResolvedRow resolved) {
  const Question& question = resolved.question;
  const std::string model = model_of(resolved.fields, row.question);
  const RowClass row_class = class_of(question);
  const RowTrust trust = trust_of(row.question, resolved.fields);
  const bool fine_tuning = is_fine_tuning(resolved.fields);
  const double measured = *measured_time(row);
  return {row.question.id,
          source,
          model,
          resolved.fields.word("release"),
          source + "|" + model,
          ranking_question(resolved.fields, model, question),
          slowest_device(question.cluster()),
          question.text().stack,
          row_class,
          trust,
          fine_tuning,
          measured,
          {measured},
          weight_of(row_class, trust, fine_tuning),
          run_features(question, resolved.strategy),
          RowPricer(question, resolved.strategy)};
}

}  // namespace

std::string_view to_text(RowClass row_class) {
  switch (row_class) {
    case RowClass::a100_dense: return "A100, dense";
    case RowClass::h100_dense: return "H100, dense";
    case RowClass::h100_500w_dense: return "H100 at 500 W, dense";
    case RowClass::v100_dense: return "V100, dense";
    case RowClass::blackwell_dense: return "Blackwell, dense";
    case RowClass::mixture: return "mixture of experts";
    case RowClass::other: return "other devices, dense";
  }
  return "";
}

FitRows fit_rows(const std::vector<RowSet>& sets, const RowResolver& resolver) {
  FitRows result;
  std::map<std::string, std::size_t> place;
  for (const RowSet& set : sets)
    for (const MeasuredRow& row : set.rows) {
      const RowUses uses = uses_of(row);
      if (std::find(uses.kinds.begin(), uses.kinds.end(), RowKind::time) == uses.kinds.end()) continue;
      Resolution resolution = resolver.resolve(row.question, set);
      if (!resolution.row) {
        result.skipped.push_back({row.question.id, set.name, RowKind::time, resolution.skipped});
        continue;
      }
      const auto [found, is_new] = place.emplace(set.name + "|" + question_key(row.question), result.rows.size());
      if (is_new) {
        result.rows.push_back(row_of(row, set.name, std::move(*resolution.row)));
        continue;
      }
      FitRow& held = result.rows[found->second];
      held.repetitions_s.push_back(*measured_time(row));
      held.measured_s = std::min(held.measured_s, *measured_time(row));
    }
  return result;
}

}  // namespace plumbline
