#include "planner/track/tracked_run.h"

#include <cstdio>

#include "core/io/run_record_json.h"
#include "core/quantity/text.h"
#include "planner/question/fingerprint.h"

namespace plumbline {
namespace {

constexpr double nanoseconds_per_second = 1e9;

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / nanoseconds_per_second; }
Milliseconds milliseconds(std::int64_t nanoseconds) {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::nanoseconds(nanoseconds));
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string derived_run_id(const RunRecord& record, Milliseconds end) {
  const std::string whole = fingerprint(to_json_text(to_json(record)) + std::to_string(end.count()));
  return whole.substr(whole.size() - std::min<std::size_t>(16, whole.size()));
}

std::vector<std::pair<std::string, std::string>> parameters_of(const RunRecord& record, const Plan& plan) {
  std::vector<std::pair<std::string, std::string>> all{
      {"model", record.model},
      {"machine", record.machine},
      {"strategy", to_text(plan.strategy)},
      {"ranks", std::to_string(record.ranks.size())},
      {"global_batch", std::to_string(plan.training.global_batch)},
      {"sequence_length", std::to_string(plan.training.sequence_length)},
      {"tokens_per_step", std::to_string(record.tokens_per_step)},
      {"precision", std::string(to_text(plan.training.precision))},
      {"optimizer", record.optimizer.name},
      {"seed", std::to_string(record.seed)},
      {"backend", record.backend},
      {"transport", record.transport},
      {"plan_fingerprint", record.plan_fingerprint},
      {"program_version", record.program_version}};
  for (const auto& [name, value] : record.optimizer.numbers) all.emplace_back(name, number_text(value));
  return all;
}

TrackedStep tracked(const StepRecord& step, std::int64_t tokens_per_step, Milliseconds time) {
  TrackedStep result{step.step + 1, time, {}};
  result.numbers = {{"loss", step.loss},
                    {"gradient_norm", step.gradient_norm},
                    {"learning_rate", step.learning_rate},
                    {"step_time_s", seconds(step.time_ns)},
                    {"skipped", step.outcome == StepOutcome::skipped ? 1.0 : 0.0}};
  if (step.time_ns > 0)
    result.numbers.push_back({"tokens_per_second", static_cast<double>(tokens_per_step) / seconds(step.time_ns)});
  if (step.held_out_loss) result.numbers.push_back({"held_out_loss", *step.held_out_loss});
  return result;
}

Bytes highest_peak(const RunRecord& record) {
  Bytes most(0);
  for (const RankRecord& rank : record.ranks) most = std::max(most, rank.memory.at_peak.live());
  return most;
}

}  // namespace

TrackedRun tracked_run(const RunRecord& record, const Plan& plan, Milliseconds end) {
  std::int64_t left = 0;  // until the end, in nanoseconds
  for (const StepRecord& step : record.steps) left += step.time_ns;
  TrackedRun run{derived_run_id(record, end),
                 record.model + ", " + to_text(plan.strategy),
                 end - milliseconds(left),
                 end,
                 parameters_of(record, plan),
                 {},
                 {}};
  for (const StepRecord& step : record.steps) {
    left -= step.time_ns;
    run.steps.push_back(tracked(step, record.tokens_per_step, end - milliseconds(left)));
  }
  const Interval& step = plan.prediction.step_time_s;
  run.summary = {{"predicted/step_time_s", step.expected},
                 {"predicted/step_time_s_low", step.low},
                 {"predicted/step_time_s_high", step.high},
                 {"predicted/peak_memory_bytes", static_cast<double>(plan.prediction.peak_memory.value())},
                 {"measured/step_time_s", seconds(median_step_ns(record))},
                 {"measured/tokens_per_second", tokens_per_second(record)},
                 {"measured/peak_tensor_bytes", static_cast<double>(highest_peak(record).value())}};
  return run;
}

void add(TrackedRun& run, const Comparison& comparison) {
  const auto both = [&](const std::string& name, Bytes predicted, Bytes measured) {
    run.summary.push_back({"predicted/" + name, static_cast<double>(predicted.value())});
    run.summary.push_back({"measured/" + name, static_cast<double>(measured.value())});
  };
  for (const MemoryLine& line : comparison.memory)
    both("memory_bytes/stage_" + std::to_string(line.stage) + "/" + line.memory_class, line.predicted, line.measured);
  for (const SentLine& line : comparison.communication)
    both("sent_bytes/stage_" + std::to_string(line.stage) + "/" + line.group + "/" + line.collective, line.predicted,
         line.measured);
}

}  // namespace plumbline
