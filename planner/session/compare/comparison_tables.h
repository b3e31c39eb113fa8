#pragma once
/// \file comparison_tables.h: predicted against measured: actions, memory, bytes on the wire.
///
/// Checked against: tests/unit/planner/present/result_tables_test.cpp.

#include <string>

#include "planner/compare/compare.h"
#include "planner/present/table.h"

namespace plumbline::present {

[[nodiscard]] Table action_table(const Comparison& comparison);
[[nodiscard]] Table compared_memory_table(const Comparison& comparison);
[[nodiscard]] Table sent_table(const Comparison& comparison);

/// Of devices with memory of their own; empty for others.
[[nodiscard]] Table device_memory_table(const Comparison& comparison);
/// "the plan does not predict: modules, other"; empty where it predicts all that was measured.
[[nodiscard]] std::string unpredicted_device_words(const Comparison& comparison);
/// "predicted 1.000 s (0.900 to 1.100), measured 1.02 s (...)"; "no step was timed: all of them were warm-up".
[[nodiscard]] std::string compared_step_words(const Comparison& comparison);
/// Whether every byte is as predicted.
[[nodiscard]] std::string_view compared_bytes_words(const Comparison& comparison);

}  // namespace plumbline::present
