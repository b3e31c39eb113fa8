#pragma once
/// \file search_view.h: what a search found, as text.

#include <string>
#include <vector>

#include "cli/output/terminal.h"
#include "planner/session/search/search.h"
#include "planner/session/search/search_cases.h"

namespace plumbline {

/// The question, what it is priced by, for which framework, and what of the best plan lies outside of measured runs.
[[nodiscard]] std::string heading_text(const session::SearchAnswer& answer);
/// The ranked table, notes on it, and where the rest of the space went.
[[nodiscard]] std::string ranking_text(const session::SearchAnswer& answer, const Terminal& terminal);
/// The front of step time and peak memory as a table and as points.
[[nodiscard]] std::string pareto_text(const std::vector<RankedStrategy>& front);
/// The best plan of every value that was asked about, and what has none.
[[nodiscard]] std::string cases_text(const session::CasesAnswer& answer);
/// Why nothing was found: the nearest miss and what it lacks.
[[nodiscard]] std::string nothing_fits_text(const session::SearchAnswer& answer);

}  // namespace plumbline
