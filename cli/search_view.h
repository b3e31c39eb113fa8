#pragma once
/// \file search_view.h: what a search found, as text and as "plumbline.search/1".

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "core/io/json.h"
#include "planner/search/search.h"

namespace plumbline {

inline constexpr std::string_view search_format = "plumbline.search/1";

/// What was searched and found, with the best plans priced in full.
struct SearchAnswer {
  QuestionText text;
  std::vector<PrecisionRecipe> precisions;
  Objective objective = Objective::step_time;
  std::string fixes;
  SearchResult result;
  std::vector<Plan> plans;         ///< of result.best, in order
  std::vector<Plan> nearest_miss;  ///< none or one
};

[[nodiscard]] Json to_json(const SearchAnswer& answer);
/// The ranked table, remarks on it, and where the rest of the space went.
[[nodiscard]] std::string ranking_text(const SearchAnswer& answer, const Terminal& terminal);
/// The front of step time and peak memory as a table and as points.
[[nodiscard]] std::string pareto_text(const std::vector<RankedStrategy>& front);
/// Why nothing was found: the nearest miss and what it lacks.
[[nodiscard]] std::string nothing_fits_text(const SearchAnswer& answer);

}  // namespace plumbline
