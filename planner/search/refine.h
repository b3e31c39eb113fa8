#pragma once
/// \file refine.h: the best plans of a search, improved along axes of which the space holds a few values only.
///
/// Answers plans that score better by closed form than the plan they vary. Model: of each plan the variants on one axis
/// (variants.h) are bounded, then judged by memory, then priced exactly as every plan is; the best variant of each plan
/// is an answer, and a plan to vary in the next round, until no plan improves. So the outcome is a local optimum on
/// those axes, not that of their product. Varied is the best plan of each shape (degrees, micro-batch): of the best
/// shapes on all axes, of more of them on those whose variants share the plan's blocks and so are soon priced.
/// Source: coordinate descent. Not modelled: variants of plans whose bounds the search
/// found worse than its best.
/// Checked against: tests/unit/planner/search/refine_test.cpp; tests/property/search_random_strategies_test.cpp.

#include <map>
#include <tuple>
#include <vector>

#include "core/plan/priced_values.h"
#include "planner/search/finalists.h"
#include "planner/search/scoring.h"
#include "planner/search/variants.h"

namespace plumbline {

/// The best of the priced plans of each shape.
class BestOfShapes {
 public:
  void consider(const RankedStrategy& plan);
  /// Best first.
  [[nodiscard]] std::vector<RankedStrategy> ranked() const;

 private:
  /// Question, pipeline and data parallelism, and what decides the costs of blocks but the parts of an expert, which
  /// are varied.
  using Shape = std::tuple<std::uint32_t, std::int32_t, std::int32_t, decltype(values_priced_in<PricedIn::blocks>({}))>;
  std::map<Shape, RankedStrategy> best_;
};

struct Refined {
  std::vector<RankedStrategy> plans;  ///< in the order of what they vary, round by round; each once
  std::int64_t priced = 0;            ///< variants that were priced exactly
  bool is_complete = true;            ///< false: stopped
};

/// `worst`: variants that score no better are not looked for.
[[nodiscard]] Refined refined(const BestOfShapes& shapes, const SearchSpace& space, const Scoring& score_of,
                              const Score& worst, const SimulationContext& context);

}  // namespace plumbline
