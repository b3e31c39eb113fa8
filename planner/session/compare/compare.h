#pragma once
/// \file compare.h: a plan held against a record of its run: what `plan compare` answers, as JSON, tables and
/// sentences.
///
/// Checked against: tests/unit/planner/session/compare/compare_test.cpp, answers_json_test.cpp,
/// tests/unit/planner/present/result_tables_test.cpp.

#include <optional>
#include <string>

#include "core/io/json.h"
#include "planner/compare/compare.h"
#include "planner/present/table.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// A plan simulated as the runtime executes it: every micro-batch, in single executions of blocks.
[[nodiscard]] SimulatedPlan simulated_as_run(const PricedQuestion& asked);

/// Nothing where it was stopped first. Throws InputError when the record, called `record_name` in messages, is of
/// another plan (require_same_plan).
[[nodiscard]] std::optional<Comparison> compare(const PricedQuestion& asked, const RunRecord& record,
                                                const std::string& record_name, const Task& task = {});

}  // namespace plumbline::session

namespace plumbline {

/// The contract of `plan compare --json`.
[[nodiscard]] Json to_json(const Comparison& comparison);

}  // namespace plumbline

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
