#pragma once
/// \file block_frontier.h: every sensible way to recompute inside one block: bytes kept against time spent.
///
/// Answers in bytes and picoseconds per micro-batch and rank. Model: recompute_problem.h. Three views of it:
/// * choices: no other choice is at least as good in kept bytes, time and restored bytes; by dynamic programming over
///   the ops from last to first, whose state is the set of earlier values that something later reads. Exact; the state
///   is as narrow as the block, so a transformer layer takes a few dozen labels.
/// * frontier: the choices that matter when restored bytes do not. "None" is its end of time 0, "full" its other end.
/// * hull: the frontier's convex corners by minimum cuts alone, polynomial for blocks of any width.
/// Source: closure by cut: Picard 1976; convex corners by dichotomy: Aneja and Nair, Management Science 25 (1979).
/// Not modelled: recomputing a value twice.
/// Checked against: tests/reference/oracles/block_oracles_test.cpp (34 and 51 points, 10 and 9 corners, exact);
/// tests/property/block_frontier_test.cpp (all sets of random blocks, exact).

#include <optional>

#include "planner/checkpointing/recompute_problem.h"

namespace plumbline {

enum class Restored : std::uint8_t { counted, ignored };
/// `counted`: the choices, in increasing order of kept bytes, then time, then restored bytes; `ignored`: the frontier,
/// in increasing order of kept bytes. Nothing as soon as more than `most` partial choices are undominated.
[[nodiscard]] std::optional<std::vector<RecomputeChoice>> block_choices_up_to(const RecomputeProblem& problem,
                                                                              Restored restored, std::size_t most);
/// Convex corners of the frontier, in increasing order of kept bytes. Where sizes and times have no common unit and
/// their products exceed 64 bits, times are compared in units of 2^k picoseconds.
[[nodiscard]] std::vector<RecomputeChoice> frontier_hull(const RecomputeProblem& problem);

}  // namespace plumbline
