#pragma once
/// \file search.h: the best strategies of a space, exactly, the same on any number of threads.
///
/// Pass 1 walks all families, refuses what is illegal or too large for memory and bounds the time of the rest from
/// below. Pass 2 prices them exactly in the order of their bounds, in batches of fixed size, and stops when no bound
/// can reach the k-th best. Every plan of the space is accounted for:
/// illegal + memory + bound + dominated + infeasible + solved = total.
/// "Exact" means: the optimum of this space under the closed-form model. Around the best of it, plans between the
/// values of its axes are tried where that is asked for (refine.h). The best, and the front, are then simulated and
/// ranked anew (finalists.h). Source: best-first branch and bound with frozen incumbents per epoch.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "planner/question/task.h"
#include "planner/search/block_tables.h"
#include "planner/search/ranked_strategy.h"
#include "planner/search/space.h"

namespace plumbline {

/// Phases "bounding", "pricing" and "simulating", of families, and plans left to price or to simulate.
using SearchProgress = TaskProgress;

/// Plans that a search has priced so far and would answer with, best first.
using BestSoFar = std::function<void(const std::vector<RankedStrategy>& best)>;

/// What ranks the best plans in the end.
enum class Finalists : std::uint8_t { closed_form, simulated };

/// Whether plans that are equivalent (equivalent.h) count as one of the best.
enum class Equivalents : std::uint8_t { apart, folded };

/// Whether plans between the values of the space's axes are tried around the best (refine.h).
enum class Refinement : std::uint8_t { none, around_best };

struct SearchOptions {
  Objective objective = Objective::step_time;
  std::size_t top = 10;
  bool pareto = false;  ///< also the front of step time and peak memory
  Finalists finalists = Finalists::simulated;
  Equivalents equivalents = Equivalents::apart;
  Refinement refinement = Refinement::none;
  /// Only plans whose closed form scores less (best_below.h), and no front; nothing that is found then says nothing of
  /// what fits.
  std::optional<Score> below;
  /// Of blocks that an earlier search of the same questions (in the same place) and fixed values has priced, by
  /// question; takes in those of this one. None: every block is priced.
  std::vector<BlockTables>* known_blocks = nullptr;
  /// `balanced`: for the best plans by closed form also the balanced split, a choice that the space does not hold.
  StageSplit split = StageSplit::even;
  std::int32_t threads = 0;                             ///< 0: all cores. The result does not depend on it.
  StopRequest stop;                                     ///< asks for the best so far
  std::function<void(const SearchProgress&)> progress;  ///< called from one thread, a few times a second at most
  BestSoFar best_so_far = {};  ///< called with `progress` once anything fits: by closed form until it is simulated
};

/// Where every plan of the space went.
struct SearchAudit {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> illegal;  ///< by rule id
  std::int64_t memory = 0;                      ///< would not fit
  std::int64_t bound = 0;                       ///< cannot be among the best: its lower bound is worse
  std::int64_t dominated = 0;                   ///< another plan is at least as good for every objective
  std::int64_t infeasible = 0;                  ///< priced, and only then found not to be possible
  std::int64_t solved = 0;                      ///< priced exactly
  std::int64_t unvisited = 0;                   ///< left when the search was interrupted
  std::int64_t refined = 0;                     ///< priced around the best of them, beyond the total
};

struct SearchResult {
  /// Those that surely fit first; by objective, then peak memory, then strategy key; simulated steps count.
  std::vector<RankedStrategy> best;
  /// Of each of the best the plans that are like it, in order; all empty where they count apart.
  std::vector<std::vector<RankedStrategy>> equivalent;
  std::vector<RankedStrategy> pareto;  ///< by step time; empty unless asked for
  SearchAudit audit;
  bool complete = true;  ///< not so: the best of what was priced before the stop, of nothing where that came first
  /// When nothing fits: the plan that came nearest to fitting.
  std::optional<RankedStrategy> nearest_miss;
};

/// One question per device count and precision that the search may choose from; usually one. Throws InputError when the
/// space holds no plan at all, legal or not.
[[nodiscard]] SearchResult search(const std::vector<Question>& questions, const SearchSpace& space,
                                  const SearchOptions& options);

/// What a plan of this question is ranked by, by its closed form.
[[nodiscard]] Score closed_form_score(const RankedStrategy& plan, const Question& question, Objective objective);

/// What a search may choose of a recipe, one or more values each.
struct RecipeChoices {
  std::vector<PrecisionRecipe> precisions;
  std::vector<Optimizer> optimizers;
  std::vector<std::int64_t> lora_ranks;  ///< 0: no adapters
};

/// The questions of a search: `text` for every recipe asked for, and, for objectives that may use fewer GPUs, for every
/// smaller count that divides the GPU count or is a power of two, and that fills nodes or a part of one.
[[nodiscard]] std::vector<Question> search_questions(const QuestionText& text, const RecipeChoices& choices,
                                                     Objective objective);
/// The same for several precisions of one recipe.
[[nodiscard]] std::vector<Question> search_questions(const QuestionText& text,
                                                     const std::vector<PrecisionRecipe>& precisions,
                                                     Objective objective);

}  // namespace plumbline
