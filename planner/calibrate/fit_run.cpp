#include "planner/calibrate/fit_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/calibration_catalog.h"
#include "planner/validate/run_use.h"

namespace plumbline {
namespace {

// How much a run says about the constants that it depends on, alongside one dense run on A100 or H100: what the study's
// runs repeat within (V100 up to 1.8 times, new containers from release to release), and what is modelled least well.
constexpr double weight_uncertain_device = 0.6;
constexpr double weight_fine_tuning = 0.5;
constexpr double weight_mixture = 0.25;
constexpr double weight_inferred = 0.5;

RunClass class_of(const Question& question) {
  if (!question.facts().experts.empty()) return RunClass::mixture;
  const Device& device = slowest_device(question.cluster());
  const std::string calibration = calibration_of(device).name;
  if (calibration == "a100") return RunClass::a100_dense;
  if (calibration == "h100") return RunClass::h100_dense;
  if (calibration == "h100-500w") return RunClass::h100_500w_dense;
  if (device.architecture == DeviceArchitecture::volta) return RunClass::v100_dense;
  if (device.architecture == DeviceArchitecture::blackwell) return RunClass::blackwell_dense;
  return RunClass::other;
}

double weight_of(RunClass run_class, RunTrust trust, bool fine_tuning) {
  if (trust == RunTrust::doubtful) return 0;
  double weight = trust == RunTrust::inferred ? weight_inferred : 1;
  if (run_class == RunClass::mixture) return weight * weight_mixture;
  if (run_class == RunClass::v100_dense || run_class == RunClass::blackwell_dense || run_class == RunClass::other)
    weight *= weight_uncertain_device;
  return fine_tuning ? weight * weight_fine_tuning : weight;
}

bool is_fine_tuning(const RunFields& fields) {
  const std::string task = fields.word("task");
  return task.starts_with("sft") || task.starts_with("lora") || fields.number("lora_rank").value_or(0) > 0;
}

/// Variants of a stack that a launch chooses are answers to one question.
std::string ranking_question(const RunFields& fields, const std::string& model, const Question& question) {
  std::string key = model;
  for (const std::string& part :
       {question.cluster().name, std::to_string(question.devices()), std::to_string(question.training().global_batch),
        std::to_string(question.training().sequence_length), fields.word("precision"), fields.word("release"),
        fields.word("framework"), fields.word("task")})
    key += "|" + part;
  return key;
}

std::string model_of(const RunFields& fields, const RunQuestion& question) {
  const std::string name = fields.word("model");
  if (!name.empty() || !question.shape) return name;
  std::string text;
  for (const auto& [key, number] : question.shape->numbers) text += key + "=" + std::to_string(number) + ";";
  return text;
}

FitRun row_of(const MeasuredRun& run, const std::string& source, ResolvedRun resolved) {
  const Question& question = resolved.question;
  const std::string model = model_of(resolved.fields, run.question);
  const RunClass run_class = class_of(question);
  const RunTrust trust = trust_of(run.question, resolved.fields);
  const bool fine_tuning = is_fine_tuning(resolved.fields);
  const double measured = measured_time(run, question, resolved.strategy);
  return {run.question.id,
          source,
          model,
          resolved.fields.word("release"),
          source + "|" + model,
          ranking_question(resolved.fields, model, question),
          slowest_device(question.cluster()),
          question.text().stack,
          run_class,
          trust,
          fine_tuning,
          measured,
          {measured},
          weight_of(run_class, trust, fine_tuning),
          run_features(question, resolved.strategy),
          RunPricer(question, resolved.strategy)};
}

}  // namespace

std::string_view to_text(RunClass run_class) {
  switch (run_class) {
    case RunClass::a100_dense: return "A100, dense";
    case RunClass::h100_dense: return "H100, dense";
    case RunClass::h100_500w_dense: return "H100 at 500 W, dense";
    case RunClass::v100_dense: return "V100, dense";
    case RunClass::blackwell_dense: return "Blackwell, dense";
    case RunClass::mixture: return "mixture of experts";
    case RunClass::other: return "other devices, dense";
  }
  return "";
}

FitRuns fit_runs(const std::vector<RunSet>& sets, const RunResolver& resolver) {
  FitRuns result;
  std::map<std::string, std::size_t> place;
  for (const RunSet& set : sets)
    for (const MeasuredRun& run : set.runs) {
      const RunUses uses = uses_of(run);
      if (std::find(uses.kinds.begin(), uses.kinds.end(), RunKind::time) == uses.kinds.end()) continue;
      if (set.held_out) {
        result.skipped.push_back({run.question.id, set.name, RunKind::time, "its file is held out of every fit"});
        continue;
      }
      Resolution resolution = resolver.resolve(run.question, set);
      if (!resolution.run) {
        result.skipped.push_back({run.question.id, set.name, RunKind::time, resolution.skipped});
        continue;
      }
      const auto [found, is_new] = place.emplace(set.name + "|" + question_key(run.question), result.runs.size());
      if (is_new) {
        result.runs.push_back(row_of(run, set.name, std::move(*resolution.run)));
        continue;
      }
      FitRun& held = result.runs[found->second];
      const double measured = measured_time(run, resolution.run->question, resolution.run->strategy);
      held.repetitions_s.push_back(measured);
      held.measured_s = std::min(held.measured_s, measured);
    }
  return result;
}

}  // namespace plumbline
