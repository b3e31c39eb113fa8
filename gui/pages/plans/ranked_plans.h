#pragma once
/// \file ranked_plans.h: the rows of a ranking: plans as they were found, or with those that each stands for.
///
/// Also whether the run that each plan makes keeps its deadline and its budget.
/// Checked against: tests/gui/pages/plans/ranked_plans_test.cpp (the rows of `plan search --all`, the days and dollars
/// of `plan size`).

#include <string>
#include <vector>

#include "planner/question/stop_request.h"
#include "planner/session/run_limits.h"
#include "planner/session/search/search.h"

namespace plumbline::gui {

struct RankedPlan {
  Plan plan;
  std::size_t place = 0;        ///< in the answer's ranking, from 0
  std::size_t like = 0;         ///< 0: the one that is ranked; else the how manieth that is like it
  std::int64_t equivalent = 0;  ///< how many more it stands for
};

/// As `plan search` prints them.
[[nodiscard]] std::vector<RankedPlan> folded_plans(const session::SearchAnswer& answer);
/// With those that are like another, each behind it; these are priced, a few milliseconds each. Where it was stopped:
/// those so far.
[[nodiscard]] std::vector<RankedPlan> unfolded_plans(const session::SearchAnswer& answer, const StopRequest& stop = {});

/// Of a run whose length is known.
struct RunFigures {
  double days = 0;
  double dollars = 0;  ///< 0: nobody knows a price
  bool keeps_limits = true;
};
/// Empty where the question does not say how long the run is.
[[nodiscard]] std::vector<RunFigures> run_figures(const std::vector<RankedPlan>& plans,
                                                  const session::RunLimits& limits);
/// "30 days and $250 000".
[[nodiscard]] std::string limit_words(const session::RunLimits& limits);
/// "12 of 200 plans keep within 30 days"; empty without limits.
[[nodiscard]] std::string kept_words(const std::vector<RunFigures>& runs, const session::RunLimits& limits);

}  // namespace plumbline::gui
