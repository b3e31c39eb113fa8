#pragma once
/// \file plan_tables.h: where the time and the memory of one plan go, and what changes of it would do.
///
/// Checked against: tests/unit/planner/present/plan_tables_test.cpp.

#include <vector>

#include "core/plan/plan.h"
#include "planner/explain/changes.h"
#include "planner/explain/sensitivity.h"
#include "planner/present/table.h"

namespace plumbline::present {

/// Causes that take time, and the step that they sum to.
[[nodiscard]] Table time_table(const TimeBreakdown& time);

/// All of up to six stages; of more the first, the last and the heaviest.
[[nodiscard]] std::vector<std::size_t> shown_stages(const Prediction& prediction);
/// Classes that hold anything by these stages, and their totals; the heaviest stage is starred.
[[nodiscard]] Table memory_table(const Prediction& prediction, const std::vector<std::size_t>& stages);

/// What the layers of each stage replay; layers alike in one row.
[[nodiscard]] Table replay_table(const Layout& layout);

/// The plan as it is, then each change.
[[nodiscard]] Table change_table(const Plan& from, const std::vector<Change>& changes);

[[nodiscard]] Table assumed_table(const std::vector<Sensitivity>& assumed);

/// Two plans side by side: choices that differ, and figures.
[[nodiscard]] Table difference_table(const Plan& one, const Plan& other);

/// Host, device and coordinates of every rank.
[[nodiscard]] Table rank_table(const Plan& plan);

}  // namespace plumbline::present
