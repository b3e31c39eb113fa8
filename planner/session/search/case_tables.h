#pragma once
/// \file case_tables.h: the best plan of every value that was asked about, as a table, and what has none.
///
/// Checked against: tests/unit/planner/session/search/search_cases_test.cpp.

#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/session/search/search_cases.h"

namespace plumbline::present {

/// The plans of the rows that have one.
[[nodiscard]] std::vector<Plan> plans_of(const session::CasesAnswer& answer);
/// Of these a row each: the values, then the plan as a ranking shows it.
[[nodiscard]] Table case_table(const session::CasesAnswer& answer);
/// `table`, a row for each of these plans, with the values in front.
[[nodiscard]] Table with_values(Table table, const session::CasesAnswer& answer);
/// Of the others a sentence each: "gpus 8: no plan fits ...".
[[nodiscard]] std::vector<std::string> without_plan(const session::CasesAnswer& answer);

}  // namespace plumbline::present
