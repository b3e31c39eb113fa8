#pragma once
/// \file plans_picture.h: what a search found, as points of a picture and rows of a table.
///
/// Checked against: tests/gui/pages/plans_page_test.cpp (the numbers of `plan search --json`).

#include "gui/scatter/scatter_plot.h"
#include "gui/tables/table_model.h"
#include "planner/session/search.h"

namespace plumbline::gui {

/// A point for each plan, in the order of the ranking.
[[nodiscard]] ScatterPicture scatter_of(const session::SearchAnswer& answer);
/// The ranking as the command line prints it, with the columns of every figure.
[[nodiscard]] present::Table ranking_of(const session::SearchAnswer& answer);
/// Plans within the noise of the best one, and the simplest of them in bold.
[[nodiscard]] RowMarks marks_of(const session::SearchAnswer& answer);
/// Each reason for which plans were set aside: its id, how many, its sentence.
[[nodiscard]] present::Table rejection_table(const SearchAudit& audit);

}  // namespace plumbline::gui
