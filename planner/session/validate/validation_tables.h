#pragma once
/// \file validation_tables.h: how far predictions are from measured runs.
///
/// Checked against: tests/unit/planner/present/result_tables_test.cpp.

#include <string>
#include <utility>
#include <vector>

#include "planner/present/table.h"
#include "planner/validate/validate.h"

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
/// Seconds or bytes of a row, as its kind says.
[[nodiscard]] std::string value_text(const RunOutcome& row, double value);

}  // namespace plumbline::present
