#pragma once
/// \file plans_picture.h: what a search found, as points of a picture and rows of a table.
///
/// Checked against: tests/gui/pages/plans_page_test.cpp (the numbers of `plan search --json`).

#include "gui/pages/plans/ranked_plans.h"
#include "gui/scatter/scatter_plot.h"
#include "gui/tables/table_model.h"

namespace plumbline::gui {

/// A point for each plan, in its order, and the front of the answer.
[[nodiscard]] ScatterPicture scatter_of(const session::SearchAnswer& answer, const std::vector<RankedPlan>& plans,
                                        const session::RunLimits& limits = {});
/// The ranking as the command line prints it, with the columns of every figure; where the length of the run is known
/// also its days and dollars.
[[nodiscard]] present::Table ranking_of(const std::vector<RankedPlan>& plans);
/// Plans within the noise of the best one, the simplest of them in bold, those that break the run's limits faint.
[[nodiscard]] RowMarks marks_of(const session::SearchAnswer& answer, const std::vector<RankedPlan>& plans,
                                const session::RunLimits& limits = {});
/// Each reason for which plans were set aside: its id, how many, its sentence.
[[nodiscard]] present::Table rejection_table(const SearchAudit& audit);

/// Of a search that goes on: by closed form, without intervals.
[[nodiscard]] ScatterPicture scatter_so_far(const std::vector<RankedStrategy>& best);
[[nodiscard]] present::Table ranking_so_far(const std::vector<RankedStrategy>& best);

}  // namespace plumbline::gui
