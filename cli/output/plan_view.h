#pragma once
/// \file plan_view.h: a priced plan as text: what was asked, the step, the memory, the cost. Shared by verbs.

#include <optional>
#include <string>
#include <vector>

#include "cli/output/terminal.h"
#include "planner/explain/changes.h"
#include "planner/present/numbers.h"
#include "planner/session/search/next_stack.h"

namespace plumbline {

/// Two lines: the question and the strategy.
[[nodiscard]] std::string question_text(const Plan& plan);
/// What the stack that was measured next nearest says; or empty.
[[nodiscard]] std::string next_stack_text(const std::optional<session::NextStack>& next);
/// Which devices each stage of a plan for a mixed cluster holds; else empty.
[[nodiscard]] std::string placement_text(const Plan& plan);
[[nodiscard]] std::string strategy_text(const Strategy& strategy, const Training& training);
/// What the layers of each stage replay, or nothing where a uniform mode and the even split say it already.
[[nodiscard]] std::string replay_text(const Plan& plan);
/// One bar per cause, in seconds and per cent, that sum to the step.
[[nodiscard]] std::string waterfall_text(const TimeBreakdown& time);
/// Classes by stages in GiB; beyond six stages the heaviest, the first and the last, and a line that says so.
[[nodiscard]] std::string memory_text(const Plan& plan);
/// What the prediction rests on where that is not many runs near to it; empty otherwise.
[[nodiscard]] std::string trust_text(const Plan& plan);
/// Tokens, samples or images per second, MFU, HFU, and the run's days, GPU-hours, dollars and kWh when it has a token
/// budget.
[[nodiscard]] std::string throughput_text(const Plan& plan);
[[nodiscard]] std::string verdict_text(const Plan& plan, const Terminal& terminal);
/// One row per change: step time and difference, peak memory, whether it fits.
[[nodiscard]] std::string changes_text(const Plan& from, const std::vector<Change>& changes);

using present::difference_text;
using present::dollars_text;
using present::gib_text;
using present::interval_text;
using present::per_cent_text;
using present::words_of;

}  // namespace plumbline
