#pragma once
/// \file plan_view.h: a priced plan as text: what was asked, the step, the memory, the cost. Shared by verbs.

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "planner/explain/changes.h"

namespace plumbline {

/// Two lines: the question and the strategy.
[[nodiscard]] std::string question_text(const Plan& plan);
[[nodiscard]] std::string strategy_text(const Strategy& strategy, const Training& training);
/// One bar per cause, in seconds and per cent, that sum to the step.
/// What the layers of each stage replay, or nothing where a uniform mode and the even split say it already.
[[nodiscard]] std::string replay_text(const Plan& plan);
[[nodiscard]] std::string waterfall_text(const Prediction& prediction);
/// Classes by stages in GiB; beyond six stages the heaviest, the first and the last, and a line that says so.
[[nodiscard]] std::string memory_text(const Plan& plan);
/// Tokens per second, MFU, HFU, and the run's days, GPU-hours, dollars and kWh when it has a token budget.
/// What the prediction rests on where that is not many runs near to it; empty otherwise.
[[nodiscard]] std::string trust_text(const Plan& plan);
[[nodiscard]] std::string throughput_text(const Plan& plan);
[[nodiscard]] std::string verdict_text(const Plan& plan, const Terminal& terminal);
/// One row per change: step time and difference, peak memory, whether it fits.
[[nodiscard]] std::string changes_text(const Plan& from, const std::vector<Change>& changes);

[[nodiscard]] std::string gib_text(Bytes amount, int digits = 1);
[[nodiscard]] std::string per_cent_text(double fraction, int digits = 1);
/// "11.83 s (10.9 to 12.8)".
[[nodiscard]] std::string interval_text(const Interval& seconds);
/// "+3.2 %".
[[nodiscard]] std::string difference_text(double now, double before);
/// Dollars with thin grouping.
[[nodiscard]] std::string dollars_text(double dollars);
/// "pipeline bubble" for pipeline_bubble.
[[nodiscard]] std::string words_of(std::string_view name);

}  // namespace plumbline
