#pragma once
/// \file run_record_json.h: records of executed runs in and out ("plumbline.measurement/2").
///
/// Keys are those of run_record.h; times in whole nanoseconds ("start_ns"), memory as class to bytes. A loss or norm
/// that was no number is null. Steps count from 1, as in all that `run` says; those of records of format 1, which are
/// read too, count from 0. What is written reads back equal, and is written as the same bytes.
/// Checked against: tests/unit/core/io/run_record_json_test.cpp, tests/error/run_record_json_test.cpp, tests/fuzz.

#include "core/io/json.h"
#include "core/measurement/reported_step.h"
#include "core/measurement/run_record.h"

namespace plumbline {

inline constexpr std::string_view run_record_format = "plumbline.measurement/2";
inline constexpr std::string_view run_record_format_1 = "plumbline.measurement/1";

[[nodiscard]] Json to_json(const RunRecord& record);
/// One object of `steps`.
[[nodiscard]] Json to_json(const StepRecord& step);
/// What `run --json` prints after each step: the same with its speed, the time left and what was generated.
[[nodiscard]] Json to_json(const ReportedStep& reported);
/// Strict: unknown keys, names that are none, ranks that are not 0, 1, 2, ... in order, actions that end before they
/// start. Throws InputError.
[[nodiscard]] RunRecord run_record_from_json(const JsonPlace& root);
/// The same of a file. Throws InputError or EnvironmentError.
[[nodiscard]] RunRecord read_run_record_file(const std::string& file);

/// One object of `ranks`: how a rank that is a process of its own hands over what it did.
[[nodiscard]] Json to_json(const RankRecord& rank);
/// As strict; `index` is the rank that it must be of.
[[nodiscard]] RankRecord rank_record_from_json(const JsonPlace& place, std::int64_t index);

}  // namespace plumbline
