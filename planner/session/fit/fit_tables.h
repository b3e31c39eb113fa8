#pragma once
/// \file fit_tables.h: the most that fits, and what would make a question fit, as tables and sentences.
///
/// Checked against: tests/unit/planner/session/fit/fit_tables_test.cpp.

#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_limits.h"

namespace plumbline::present {

/// "llama-3-8b on 8 x RTX-4090 (rtx4090-pcie), sequence 8192, LoRA rank 16".
[[nodiscard]] std::string fit_limits_question_words(const session::FitLimits& answer);
/// What was taken for what nobody said.
[[nodiscard]] std::string fit_limits_assumption_words(const session::FitLimits& answer);
/// A row for each limit: its value, the memory of the plan there, what it leaves, the plan.
[[nodiscard]] Table fit_limits_table(const session::FitLimits& answer);
/// What keeps the next value of each from fitting.
[[nodiscard]] std::vector<std::string> beyond_words(const session::FitLimits& answer);
/// A row for each remedy: what is asked instead, and the best plan then.
[[nodiscard]] Table remedy_table(const std::vector<session::Remedy>& remedies);

}  // namespace plumbline::present
