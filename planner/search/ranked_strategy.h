#pragma once
/// \file ranked_strategy.h: a plan that a search has priced, written out, and the order of such plans.
///
/// Step times in picoseconds: of the closed form, and of the simulation once there is one, which then ranks.

#include <optional>
#include <vector>

#include "core/plan/strategy.h"
#include "core/training/optimizer.h"
#include "core/training/precision.h"
#include "planner/search/candidate.h"

namespace plumbline {

/// A candidate with its strategy and what its question says of it, as answers hold it.
struct RankedStrategy : Candidate {
  Strategy strategy = {};
  std::int64_t devices = 0;
  PrecisionRecipe precision = PrecisionRecipe::bf16;
  std::optional<Picoseconds> simulated = {};  ///< step time, of finalists
  std::optional<NumberFormat> gradient_format = {};
  bool may_not_fit = false;  ///< its interval of memory reaches beyond the device; known of the best
  Optimizer optimizer = Optimizer::adamw;
  std::int64_t lora_rank = 0;

  /// What it is ranked by.
  [[nodiscard]] Picoseconds ranking_step() const { return simulated.value_or(step_time); }
};

/// Whether both are one plan, whatever was found out about it.
[[nodiscard]] inline bool is_same_plan(const RankedStrategy& a, const RankedStrategy& b) {
  return a.strategy == b.strategy && a.question == b.question;
}
/// Of plans in the order of `before`: keeps each once.
void leave_out_repeats(std::vector<RankedStrategy>& plans);

/// By score, then memory, then strategy: an order without ties.
[[nodiscard]] bool before(const RankedStrategy& a, const RankedStrategy& b);

/// Plans that no other beats in both time and memory, fastest first; of equals the first in that order.
[[nodiscard]] std::vector<RankedStrategy> front_of(std::vector<RankedStrategy> plans);

}  // namespace plumbline
