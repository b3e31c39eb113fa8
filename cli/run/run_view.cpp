#include "cli/run/run_view.h"

#include <algorithm>

#include "cli/output/plan_view.h"
#include "cli/run/loss_view.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// Both ends of the run, and how much of that any counting of tokens would have reached.
std::string losses_text(const RunRecord& record) {
  const auto at = [](const StepRecord& step) { return loss_text(step) + " at step " + std::to_string(step.step + 1); };
  std::string text = "loss " + at(record.steps.front()) + "; " + at(record.steps.back()) + "\n";
  if (record.text.tokens > 0)
    text += "unigram entropy of the training text: " + fixed(record.text.unigram_entropy, 4) +
            ", the loss of knowing only how often each token occurs\n";
  return text;
}

std::string generated_text(const RunRecord& record, TokenMeaning meaning) {
  if (record.text.generated.empty()) return "";
  std::string lines = "prompt | continuation, " + std::to_string(record.text.generated.size()) + " tokens:\n";
  for (const char c : tokens_text(record.text.prompt, meaning) + "|" + tokens_text(record.text.generated, meaning)) {
    if (lines.back() == '\n') lines += "  ";
    lines += c;
  }
  return lines + "\n";
}

std::string utilisation_text(const RunSpeed& speed, double step_s) {
  return to_text(speed.model_flops_per_second(step_s)) + " of the model, " + per_cent_text(speed.utilisation(step_s)) +
         " of the product rate of " + std::to_string(speed.cores) + (speed.cores == 1 ? " core" : " cores") + " (" +
         to_text(speed.core_peak) + " each, " + speed.peak_source + ")\n";
}

/// The heaviest rank of each stage.
std::string memory_line(const RunRecord& record) {
  std::string text;
  std::int32_t stages = 0;
  for (const RankRecord& rank : record.ranks) stages = std::max(stages, rank.stage + 1);
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    Bytes peak(0);
    Bytes arena(0);
    for (const RankRecord& rank : record.ranks) {
      if (rank.stage != stage) continue;
      peak = std::max(peak, rank.memory.at_peak.device_total());
      arena = std::max(arena, rank.memory.arena);
    }
    text += (text.empty() ? "" : ", ") + to_text(peak) + " on stage " + std::to_string(stage) + " (" + to_text(arena) +
            " reserved)";
  }
  return text.empty() ? "" : "peak of live tensors of one rank: " + text + "\n";
}

/// "rank 0 took 1.20 GiB of its device: context 620 MiB, ..."; nothing for devices without memory of their own.
std::string device_line(const RunRecord& record) {
  if (record.ranks.empty() || !record.ranks.front().memory.device) return "";
  const DeviceMemoryRecord& device = *record.ranks.front().memory.device;
  std::string text = "rank 0 took " + to_text(device.total()) + " of its device: ";
  for (std::size_t p = 0; p < device_part_count; ++p)
    text += (p == 0 ? "" : ", ") + std::string(to_text(static_cast<DevicePart>(p))) + " " + to_text(device.by_part[p]);
  if (device.ranks > 1)
    text += "; " + std::to_string(device.ranks) + " ranks share it, and took " + to_text(device.device_peak);
  if (device.trials.value() > 0) text += "; trials of products took " + to_text(device.trials) + " more for a moment";
  return text + "\n";
}

}  // namespace

std::string run_text(const RunRecord& record, const Plan& plan, const RunSpeed& speed, TokenMeaning meaning) {
  if (record.steps.empty()) return "";
  const double measured = static_cast<double>(median_step_ns(record)) * 1e-9;
  const double predicted = plan.prediction.step_time_s.expected;
  std::vector<double> losses;
  for (const StepRecord& step : record.steps) losses.push_back(step.loss);
  std::string text = question_text(plan) + strategy_text(plan.strategy, plan.training) + placement_text(plan) + "\n" +
                     loss_curve_text(losses);
  text += "\n" + losses_text(record);
  if (measured > 0)
    text += "step " + to_text(Seconds(measured)) + " (median), " +
            grouped(static_cast<std::int64_t>(tokens_per_second(record))) + " tokens/s; predicted " +
            interval_text(plan.prediction.step_time_s) + " (measured over predicted " +
            difference_text(measured, predicted) + ")\n" + utilisation_text(speed, measured);
  return text + memory_line(record) + device_line(record) + generated_text(record, meaning);
}

}  // namespace plumbline
