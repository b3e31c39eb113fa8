#pragma once
/// \file search.h: the best strategies of a question, priced in full: what `plan search` answers.
///
/// Two steps, so that wrong input and warnings on it are known before the long work: `prepare_search` reads the
/// question and checks it, `search` looks through its space. A search that is stopped answers with the best so far.
/// Checked against: tests/unit/planner/session/search/search_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "planner/frameworks/framework.h"
#include "planner/question/task.h"
#include "planner/search/search.h"
#include "planner/search/ties.h"
#include "planner/session/estimate.h"
#include "planner/session/launchable.h"
#include "planner/session/search/next_stack.h"

namespace plumbline::session {

inline constexpr std::int64_t most_plans = 10'000;
inline constexpr std::int64_t most_threads = 4096;

struct SearchRequest {
  QuestionText question;  ///< its recipe is that of the answer's words; `recipes` are searched
  RecipeChoices recipes;  ///< of each choice that is empty: the question's
  Objective objective = Objective::step_time;
  std::string fixes;  ///< values of axes, such as "tp=8,zero=1|2" (space_from_text); empty: all are free
  std::vector<FlashAttention> flash_attention;  ///< empty: as is usual for the devices and the stack
  std::optional<Framework> framework;           ///< only what it can launch; none: that of the stack (launchable.h)
  std::optional<StageSplit> split;              ///< even: as the rule splits alone; none: also levelled (level_split.h)
  std::size_t top = 10;                         ///< how many plans, 1 to most_plans
  bool all = false;          ///< also those that are like a better one (planner/search/equivalent.h), each by itself
  bool pareto = false;       ///< also the front of step time and peak memory
  bool limits_cost = true;   ///< also what the framework's limits cost (SearchAnswer::without_limits)
  std::int32_t threads = 0;  ///< at most most_threads; 0: all cores; the answer does not depend on it
};

/// A request whose parts were found and checked.
struct PreparedSearch {
  SearchRequest request;            ///< with the question as it was understood: defaults filled in
  std::vector<Question> questions;  ///< one for each precision and device count
  SearchSpace space;
  std::string warning;  ///< on names that could also be files; or empty
  FrameworkChoice framework;
};

/// What the limits of a framework cost.
struct WithoutLimits {
  std::optional<Plan> plan;                ///< better by closed form than any that it launches; none: there is none
  std::vector<std::string> inexpressible;  ///< what of it the framework cannot launch
};

/// What was searched and found, with the best plans priced in full.
struct SearchAnswer {
  SearchRequest request;
  SearchResult result;
  FrameworkChoice framework;
  std::vector<Plan> plans;           ///< of result.best, in order
  std::optional<Plan> nearest_miss;  ///< where nothing fits
  Ties ties;                         ///< of the plans, where they are ranked by time
  /// Of several recipes that were searched, the best plan of each that has none among `plans`; as they were given.
  std::vector<Plan> best_of_others;
  std::optional<NextStack> next_stack;          ///< of the first plan
  std::optional<WithoutLimits> without_limits;  ///< of a search for a framework that was not stopped until then
};

/// Throws InputError for wrong names, numbers and axes, and for a precision, an optimizer or a fixed value that the
/// framework cannot launch.
[[nodiscard]] PreparedSearch prepare_search(const SearchRequest& request);
/// Throws InputError when the space holds no plan at all. Progress is that of "bounding", "pricing" and "simulating";
/// the phases that end are "search", "pricing", and for a framework "search without limits", which bounds the space
/// without them and prices what could be better than the best plan.
/// `best_so_far` hears of the plans found until then, as the task hears of its progress; it may be empty.
[[nodiscard]] SearchAnswer search(const PreparedSearch& prepared, const Task& task = {},
                                  const BestSoFar& best_so_far = {});
/// Both steps.
[[nodiscard]] SearchAnswer search(const SearchRequest& request, const Task& task = {});

/// Of an answer without plans.
[[nodiscard]] std::string why_no_plan(const SearchAnswer& found);

/// The strategy of the first of these plans, of the one that comes nearest where nothing fits, and plain data
/// parallelism where none is legal, for a question of which nobody gave one: what `plan estimate` prices then.
[[nodiscard]] StrategyRequest best_strategy(const QuestionText& question, const Task& task = {});

}  // namespace plumbline::session
