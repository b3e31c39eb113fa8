#pragma once
/// \file validate.h: predictions against measured runs: what `plan validate` answers, as JSON and tables.
///
/// Checked against: tests/unit/planner/session/validate/validate_test.cpp, answers_json_test.cpp,
/// tests/unit/planner/present/result_tables_test.cpp, tests/integration/validate_test.py.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/io/json.h"
#include "core/measurement/run_rules.h"
#include "planner/present/table.h"
#include "planner/question/task.h"
#include "planner/validate/validate.h"

namespace plumbline::session {

struct ValidationRequest {
  std::optional<std::vector<RunSet>> runs;  ///< nothing: those that are published
  ValidationFilter filter;
};

/// What was predicted until it was stopped. Throws InputError where no run bears a name of the filter, in the words of
/// --source and --device. Progress: phase "runs".
[[nodiscard]] Validation validate(const ValidationRequest& request, const Task& task = {});

/// What fills fields that are not published: of each published source, then what holds for all.
[[nodiscard]] RunRuleTable assumptions();

}  // namespace plumbline::session

namespace plumbline {

/// "plumbline.validation/1".
[[nodiscard]] Json to_json(const Validation& validation);

}  // namespace plumbline

namespace plumbline::present {

/// Which series of a summary a table is of.
using Series = SeriesSummary ValidationSummary::*;

/// A row for each source with such rows, then all of them; no rows where no source has any.
[[nodiscard]] Table series_table(const Validation& validation, const std::string& title, Series series);
/// The trusted rows that were missed most, at most `most`.
[[nodiscard]] Table furthest_table(const Validation& validation, std::size_t most = 12);
[[nodiscard]] Table skipped_table(const Validation& validation);

/// Reasons without what names a single row, with how often each occurred, most frequent first.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> skip_reasons(const Validation& validation);

/// "12.3 %", "+12.3 %".
[[nodiscard]] std::string share_text(double fraction);
[[nodiscard]] std::string signed_share_text(double fraction);
/// "outside" where a row lies outside of the runs behind its calibration, "far" where it does by a factor of two or is
/// of another kind, as `plan estimate` says of a plan; else empty.
[[nodiscard]] std::string beyond_mark(const RunOutcome& row);
/// Seconds or bytes of a row, as its kind says.
[[nodiscard]] std::string value_text(const RunOutcome& row, double value);

}  // namespace plumbline::present
