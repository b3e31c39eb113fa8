#pragma once
/// \file plan_columns.h: what is shown of plans in a list: the ranking of a search, a comparison of several plans.
///
/// Checked against: tests/unit/planner/present/plan_columns_test.cpp.

#include <vector>

#include "core/plan/plan.h"
#include "planner/present/table.h"
#include "planner/search/ranked_strategy.h"

namespace plumbline::present {

[[nodiscard]] const std::vector<ColumnOf<Plan>>& plan_columns();
/// Plans in their order, numbered from 1. `equivalent`: how many more each stands for (planner/search/equivalent.h);
/// empty: none.
[[nodiscard]] Table plan_table(const std::vector<Plan>& plans, const std::vector<std::int64_t>& equivalent = {});

/// Points of the front of step time and peak memory.
[[nodiscard]] const std::vector<ColumnOf<RankedStrategy>>& front_columns();
[[nodiscard]] Table front_table(const std::vector<RankedStrategy>& front);

}  // namespace plumbline::present
