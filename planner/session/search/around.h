#pragma once
/// \file around.h: what to change of a strategy that somebody already runs: what `plan search --around` answers, and
/// what `plan fit` (fit.h) offers where the strategy does not fit.
///
/// Model: the best strategies that differ from the given one in a few choices. A choice is a degree of parallelism, the
/// schedule with its virtual stages, the micro-batch, ZeRO with its shard group, sequence parallelism or recompute;
/// what leaves no choice (data parallelism, a schedule for a first pipeline) changes with them and is not counted
/// (planner/explain/strategy_changes.h). For every set of so many choices the search looks through all of their values,
/// the rest kept, and takes those of at most so many changes alone, so the answer is exact for these spaces; then the
/// whole space says what more changes would gain.
/// All by closed form, as the given strategy is priced. A change is left out where a part of its steps does as well,
/// and where no more steps on the same degrees do as well within what repetitions of a run differ by. Not modelled:
/// what it takes to restart with another layout (plan run resumes under any). Checked against:
/// tests/unit/planner/session/search/around_test.cpp, by exhaustive enumeration.

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/explain/changes.h"
#include "planner/session/estimate.h"
#include "planner/session/search/search.h"

namespace plumbline::session {

inline constexpr std::int32_t most_changes = 4;
inline constexpr std::int32_t usual_changes = 2;

/// When what any number of changes would gain is looked for.
enum class WholeSpace : std::uint8_t { always, where_nothing_is_near };

struct AroundRequest {
  PricedQuestion start;
  /// Of a search: fixes, objective, framework, split, top and threads; its question is the start's own.
  SearchRequest search;
  std::int32_t changes = usual_changes;  ///< the most choices that differ, 1 to most_changes
  WholeSpace whole_space = WholeSpace::always;
};

struct AroundAnswer {
  Plan start;
  FrameworkChoice framework;
  std::int32_t changes = 0;     ///< as asked for
  std::vector<Change> nearby;   ///< best first, whether better than the start or not
  std::optional<Change> whole;  ///< the best of the whole space, where it is better than start and nearby
  bool complete = true;         ///< false: the best of what was looked at before the stop
};

/// Whether a plan is better than another: one that fits than one that does not, else by the objective.
[[nodiscard]] bool is_better(const Plan& one, const Plan& other, Objective objective);

/// Throws InputError: a number out of range, a fixed value that the start does not have, an objective over several
/// device counts. Progress is that of "choices", of sets of choices; the phases that end are "choices" and "whole
/// space".
[[nodiscard]] AroundAnswer search_around(const AroundRequest& request, const Task& task = {});

}  // namespace plumbline::session
