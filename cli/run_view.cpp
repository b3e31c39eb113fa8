#include "cli/run_view.h"

#include <algorithm>

#include "cli/loss_view.h"
#include "cli/plan_view.h"
#include "core/io/run_record_json.h"
#include "core/quantity/text.h"
#include "runtime/process_memory.h"

namespace plumbline {
namespace {

constexpr int loss_digits = 4;

double per_second(std::int64_t tokens, std::int64_t time_ns) {
  return time_ns > 0 ? static_cast<double>(tokens) / (static_cast<double>(time_ns) * 1e-9) : 0;
}

/// The heaviest rank of each stage.
std::string memory_line(const RunRecord& record) {
  std::string text;
  std::int32_t stages = 0;
  for (const RankRecord& rank : record.ranks) stages = std::max(stages, rank.stage + 1);
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    Bytes peak(0);
    for (const RankRecord& rank : record.ranks)
      if (rank.stage == stage) peak = std::max(peak, rank.memory.at_peak.device_total());
    text += (text.empty() ? "" : ", ") + to_text(peak) + " on stage " + std::to_string(stage);
  }
  return text.empty() ? "" : "peak of live tensors of one rank: " + text + "\n";
}

}  // namespace

std::string step_line(const StepRecord& step, std::int64_t last_step, double tokens_per_second) {
  return "step " + std::to_string(step.step + 1) + " of " + std::to_string(last_step) + ", loss " +
         fixed(step.loss, loss_digits) + ", " + grouped(static_cast<std::int64_t>(tokens_per_second)) + " tokens/s, " +
         to_text(process_resident_bytes());
}

Json step_line_json(const StepRecord& step, std::int64_t tokens) {
  Json::Object object = *to_json(step).if_object();
  object.emplace_back("tokens_per_s", per_second(tokens, step.time_ns));
  return object;
}

std::string run_text(const RunRecord& record, const Plan& plan) {
  if (record.steps.empty()) return "";
  const double measured = static_cast<double>(median_step_ns(record)) * 1e-9;
  const double predicted = plan.prediction.step_time_s.expected;
  std::vector<double> losses;
  for (const StepRecord& step : record.steps) losses.push_back(step.loss);
  std::string text = question_text(plan) + strategy_text(plan.strategy, plan.training) + "\n" + loss_curve_text(losses);
  text += "\nloss " + fixed(losses.front(), loss_digits) + " at step " + std::to_string(record.steps.front().step + 1) +
          ", " + fixed(losses.back(), loss_digits) + " at step " + std::to_string(record.steps.back().step + 1) + "\n";
  if (measured > 0)
    text += "step " + to_text(Seconds(measured)) + " (median), " +
            grouped(static_cast<std::int64_t>(tokens_per_second(record))) + " tokens/s; predicted " +
            interval_text(plan.prediction.step_time_s) + " (measured over predicted " +
            difference_text(measured, predicted) + ")\n";
  return text + memory_line(record);
}

}  // namespace plumbline
