#include "planner/validate/run_use.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/predict.h"

namespace plumbline {
namespace {

/// A run that only infers one of these proves less.
constexpr std::array<std::string_view, 12> decisive_fields{
    "seq_len", "global_batch", "micro_batch", "local_batch", "grad_accum", "tp",
    "pp",      "dp",           "cp",          "ep",          "gpus",       "measured.step_time_s"};

}  // namespace

std::string_view to_text(RunKind kind) {
  switch (kind) {
    case RunKind::time: return "time";
    case RunKind::memory: return "memory";
    case RunKind::fit: return "fit";
  }
  return "";
}

std::string_view to_text(RunTrust trust) {
  switch (trust) {
    case RunTrust::trusted: return "trusted";
    case RunTrust::inferred: return "inferred";
    case RunTrust::doubtful: return "doubtful";
  }
  return "";
}

double measured_time(const MeasuredRun& run, const Question& question, const Strategy& strategy) {
  const RunMeasurement& m = run.measured;
  if (m.step_time_s) return *m.step_time_s;
  const double samples = static_cast<double>(question.training().global_batch);
  const double tokens = samples * static_cast<double>(question.training().sequence_length);
  const double devices = static_cast<double>(question.devices());
  if (m.tokens_per_s_per_gpu) return tokens / (*m.tokens_per_s_per_gpu * devices);
  if (m.tokens_per_s) return tokens / *m.tokens_per_s;
  if (m.samples_per_s) return samples / *m.samples_per_s;
  if (m.tflops_per_gpu) return model_flops(question).value() / (*m.tflops_per_gpu * 1e12 * devices);
  check(m.hfu_tflops_per_gpu.has_value(), "a run of kind time has a time or a rate");
  const Flops executed = evaluate(question, strategy).prediction.hardware_flops_per_step;
  return executed.value() / (*m.hfu_tflops_per_gpu * 1e12 * devices);
}

RunUses uses_of(const MeasuredRun& run) {
  if (run.suspect) return {{}, "its source contradicts itself"};
  RunUses uses;
  const auto allowed = [&](const char* use) { return !run.uses || run.uses->count(use) != 0; };
  if (allowed("time") && run.measured.has_time()) uses.kinds.push_back(RunKind::time);
  if (allowed("memory") && run.measured.has_memory()) uses.kinds.push_back(RunKind::memory);
  if (allowed("fit") && run.measured.out_of_memory) uses.kinds.push_back(RunKind::fit);
  if (!uses.kinds.empty()) return uses;
  if (!run.uses) return {{}, "nothing was measured that is predicted here"};
  if (run.uses->count("analytic") != 0) return {{}, "its numbers were computed, not measured"};
  if (run.uses->count("time_incomplete") != 0) return {{}, "its source does not publish enough to ask the question"};
  return {{}, "its collector found it fit for no comparison"};
}

namespace {

bool is_partly_known(const RunQuestion& question) {
  return std::any_of(decisive_fields.begin(), decisive_fields.end(),
                     [&](std::string_view field) { return question.unverified.contains(field); });
}

}  // namespace

RunTrust trust_of(const RunQuestion& question, const RunFields& fields) {
  if (fields.has("doubtful")) return RunTrust::doubtful;
  const bool inferred = is_partly_known(question);
  const bool inferred_interleaving = question.unverified.contains("vpp") && fields.number("vpp").value_or(1) > 1;
  return inferred || inferred_interleaving ? RunTrust::inferred : RunTrust::trusted;
}

std::string question_key(const RunQuestion& question) {
  std::string key = is_partly_known(question) ? "inferred;" : "";
  const auto add = [&](const RunFields& fields) {
    for (const auto& [name, word] : fields.words) key.append(name).append("=").append(word).append(";");
    for (const auto& [name, number] : fields.numbers) key += name + "=" + std::to_string(number) + ";";
  };
  add(question.fields);
  if (question.shape) key += "shape:", add(*question.shape);
  return key;
}

}  // namespace plumbline
