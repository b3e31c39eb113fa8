#pragma once
/// \file finalists.h: the best plans of a search simulated, and ranked by the simulated step.
///
/// Answers simulated step times in picoseconds. Model: of plans in the order of their closed form, the first few times
/// as many as are asked for are simulated with one segment per pipeline chunk (planner/pricing/simulated.h). Then
/// follow the plans whose closed form exceeds that of the last one by no more than simulation and closed form have
/// differed so far. `most_finalists` limits the time that this takes. A plan beyond, or whose program is too
/// long (most_simulated_passes), keeps its place by closed form.
/// Where the closed form is exact (no interleaving) nothing moves.
/// Not modelled: plans that the closed form ranks so far behind that they are never simulated.
/// Checked against: tests/property/search_brute_force_test.cpp (simulated and sorted plan by plan).

#include <functional>
#include <vector>

#include "planner/question/question.h"
#include "planner/question/stop_request.h"
#include "planner/search/block_tables.h"
#include "planner/search/ranked_strategy.h"

namespace plumbline {

inline constexpr std::size_t finalists_per_plan = 3;
inline constexpr std::size_t most_finalists = 48;

/// How many plans a ranking needs by closed form so that its best `top` can be re-ranked.
[[nodiscard]] std::size_t finalist_count(std::size_t top);

/// `blocks`: of each question; it takes in programs of their blocks.
struct SimulationContext {
  const std::vector<Question>& questions;
  std::vector<BlockTables>& blocks;
  std::int32_t threads = 1;
  StopRequest stop;
  std::function<void(std::int64_t done, std::int64_t total)> report;  ///< between batches
};
/// Puts alongside each plan of one chunk per rank under 1F1B the same with a balanced split, where that fits and is
/// faster by closed form. False when it was stopped.
[[nodiscard]] bool add_balanced(std::vector<RankedStrategy>& plans, const SimulationContext& context);
/// The same with single layers moved between the stages of a mixed cluster (site_splits.h), for the first plans, as
/// many as are simulated at most, where `allows` (empty: always) holds of it.
[[nodiscard]] bool add_moved_layers(std::vector<RankedStrategy>& plans, const SimulationContext& context,
                                    const std::function<bool(const Strategy&)>& allows);
/// Simulates plans [first, last). False when it was stopped; those of later batches have no simulated step then.
[[nodiscard]] bool simulate(std::vector<RankedStrategy>& plans, std::size_t first, std::size_t last,
                            const SimulationContext& context);
/// Simulates the finalists among `plans`, which are in the order of their closed form. False when it was stopped.
[[nodiscard]] bool simulate_finalists(std::vector<RankedStrategy>& plans, std::size_t top,
                                      const SimulationContext& context);

}  // namespace plumbline
