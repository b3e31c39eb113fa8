#include "planner/present/plan_words.h"

#include <algorithm>
#include <cmath>

#include "core/cost/residuals.h"
#include "core/quantity/text.h"
#include "core/training/adaptation_text.h"
#include "planner/present/numbers.h"
#include "planner/present/sample_words.h"

namespace plumbline::present {

std::string question_words(const Plan& plan) {
  const Training& t = plan.training;
  std::string text = plan.model.name + " (" + count_text(plan.model.parameters) + " parameters";
  if (plan.model.active_parameters != plan.model.parameters)
    text += ", " + count_text(plan.model.active_parameters) + " active";
  if (plan.model.trained_parameters != plan.model.parameters)
    text += ", " + count_text(plan.model.trained_parameters) + " trained";
  text += ") on " + plan.machine.devices_text() + " (" + plan.machine.name + "), " + batch_words(plan);
  if (const std::string budget = budget_words(plan); !budget.empty()) text += ", " + budget;
  if (const std::string frozen = freeze_text(t.adaptation); !frozen.empty()) text += ", frozen " + frozen;
  if (t.adaptation.lora_rank > 0) text += ", LoRA rank " + std::to_string(t.adaptation.lora_rank);
  if (t.adaptation.lora_rank > 0 && t.adaptation.lora_targets != LoraTargets::every_linear)
    text += " on " + std::string(to_text(t.adaptation.lora_targets));
  return text;
}

std::string strategy_words(const Strategy& strategy, const Training& training) {
  std::string text = to_text(strategy) + ", " + std::string(to_text(training.precision));
  if (training.gradient_format && *training.gradient_format != precision_formats(training.precision).gradient)
    text += " with " + std::string(to_text(*training.gradient_format)) + " gradients";
  text += ", " + std::string(to_text(training.optimizer));
  if (training.optimizer_format) text += " with " + std::string(to_text(*training.optimizer_format)) + " moments";
  if (strategy.flash_attention == FlashAttention::off) text += ", no FlashAttention";
  return text;
}

namespace {

std::string layer_range(const std::vector<StageLayoutEntry>& stages, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t chunk = 0; chunk < stages[first].layers.size(); ++chunk) {
    std::int64_t low = -1;
    std::int64_t high = -1;
    for (std::size_t s = first; s <= last; ++s) {
      const std::vector<std::int64_t>& ends = stages[s].layers[chunk];
      if (ends.empty()) continue;
      low = low < 0 ? ends[0] : std::min(low, ends[0]);
      high = std::max(high, ends[1]);
    }
    if (low >= 0) text += (text.empty() ? "" : " and ") + std::to_string(low) + " to " + std::to_string(high);
  }
  return text.empty() ? "" : ", layers " + text;
}

}  // namespace

std::string placement_words(const Layout& layout) {
  const std::vector<StageLayoutEntry>& stages = layout.stages;
  std::string text;
  for (std::size_t first = 0, last = 0; first < stages.size(); first = last + 1) {
    if (stages[first].devices.empty()) return "";
    last = first;
    while (last + 1 < stages.size() && stages[last + 1].devices == stages[first].devices) ++last;
    text += (text.empty() ? "" : "; ") +
            (first == last ? "stage " + std::to_string(first)
                           : "stages " + std::to_string(first) + " to " + std::to_string(last)) +
            " on " + stages[first].devices + (first == last ? "" : " each") + layer_range(stages, first, last);
    if (stages[first].devices.find(" and ") != std::string::npos) text += ", waiting for the slowest of them";
  }
  return text;
}

std::string basis_words(const Plan& plan) {
  const Provenance& p = plan.provenance;
  const NumberFormat gradients =
      plan.training.gradient_format.value_or(precision_formats(plan.training.precision).gradient);
  const bool is_calibrated = p.trust.regime == to_text(CalibrationRegime::calibrated);
  const bool has_few = p.trust.regime == to_text(CalibrationRegime::few_runs);
  return "stack " + p.stack_calibration + (p.stack_is_default ? " (default: " + p.stack_why + ")" : "") + ", " +
         std::string(to_text(gradients)) + " gradients, " +
         (is_calibrated ? "calibrated by many runs"
          : has_few     ? "calibrated by few runs"
                        : "unknown: calibrated by no run") +
         ", 90 % intervals";
}

std::string trust_words(const Trust& trust) {
  std::string text;
  for (const std::string& one : trust.beyond) text += (text.empty() ? "" : "; ") + one;
  if (!text.empty()) text = (trust.is_far ? "far from anything measured: " : "outside of what was measured: ") + text;
  if (trust.regime == to_text(CalibrationRegime::calibrated)) return text;
  return std::string(trust.regime == to_text(CalibrationRegime::few_runs) ? "few runs" : "unknown: no run") +
         " of this device or stack measured" + (text.empty() ? "" : "; ") + text;
}

std::string throughput_words(const Plan& plan) {
  const Prediction& p = plan.prediction;
  std::string text;
  for (const Rate& rate : rates(plan)) text += fixed(rate.per_second_and_gpu, 1) + " " + std::string(rate.unit) + ", ";
  const std::string causal = p.mfu_causal < p.mfu ? " (causal " + per_cent_text(p.mfu_causal) + ")" : std::string();
  return text + "MFU " + per_cent_text(p.mfu) + causal + ", HFU " + per_cent_text(p.hfu) + ", pipeline bubble " +
         per_cent_text(p.bubble_fraction);
}

std::string run_words(const RunCost& run) {
  std::string text = fixed(run.days, 1) + " days, " + grouped(std::llround(run.gpu_hours)) + " GPU-hours";
  if (run.dollars.value() > 0) text += ", " + dollars_text(run.dollars.value());
  return text + ", " + grouped(std::llround(run.energy_kwh)) + " kWh";
}

std::string peak_words(const Prediction& prediction) {
  const Interval& peak = prediction.peak_memory_interval_bytes;
  return fixed(peak.expected / bytes_per_gib, 2) + " GiB (" + fixed(peak.low / bytes_per_gib, 2) + " to " +
         fixed(peak.high / bytes_per_gib, 2) + ")";
}

Fit fit_of(const Verdict& verdict) {
  if (!verdict.fits) return Fit::no;
  return verdict.near_edge ? Fit::near_edge : Fit::yes;
}

std::string_view fit_words(Fit fit) {
  switch (fit) {
    case Fit::no: return "does not fit";
    case Fit::near_edge: return "fits, near the edge";
    case Fit::yes: return "fits";
  }
  return "";
}

}  // namespace plumbline::present
