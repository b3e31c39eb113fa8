#pragma once
/// \file candidate.h: one plan of a search, with what has been learnt of it so far.
///
/// Times in picoseconds, memory in bytes. A candidate begins as a place in the space with bounds of its time and memory
/// (candidates.h). A branch and bound (branch_and_bound.h) makes these tighter, and has it priced last: then they are
/// its closed form. What is priced is written out with its strategy (ranked_strategy.h), and may be simulated.

#include <cstdint>

#include "planner/search/objective.h"

namespace plumbline {

/// What became of a candidate: it is still to be priced; it was; it cannot be launched after all; no bound lets it be
/// worth its price; or what is placed replays nothing, so that it is another plan of the space. Of those whose
/// recompute is not placed, all are open or priced.
enum class Outcome : std::uint8_t { open, priced, infeasible, bounded, repeated };

/// Many are held at once: 64 bytes.
struct Candidate {
  Picoseconds step_time{0};    ///< at least so long; the closed form once it is priced
  Bytes peak_memory{0};        ///< at least so much; exact once it is priced, and before where no recompute is placed
  Score score{};               ///< what it is ranked by, at least; may be tighter than what time and memory say
  std::uint32_t question = 0;  ///< which of the search's questions it answers
  std::int32_t family = 0;     ///< of the question's table; a variant of a plan keeps the plan's
  std::int32_t leaf = 0;       ///< index into SpaceEnumerator::leaves of the family
  std::uint8_t tightened = 0;  ///< in how many ways it has been bounded beyond its sums (Tighter)
  /// Stands for all plans of its family with its leaf's recompute, of which only the least time is known so far.
  bool is_group = false;
  Outcome outcome = Outcome::open;
};

}  // namespace plumbline
