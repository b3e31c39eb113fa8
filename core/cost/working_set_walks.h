#pragma once
/// \file working_set_walks.h: a block walked in both directions, every buffer counted as it comes and goes.
///
/// Answers bytes per rank, by the ledger. Model, source and what it was checked against: working_set.h.

#include "core/cost/working_ledger.h"
#include "core/cost/working_set_sizes.h"

namespace plumbline {

enum class Round : std::uint8_t { first, again };

/// Values of one forward, or of what is replayed of it.
void walk_forward(const WorkingSetSizes& sizes, WorkingLedger& ledger, Round round);

enum class GradientPart : std::uint8_t { all, inputs };

/// Gradients of one backward, with the replay before it. Returns the operators whose weight gradients were put off, in
/// that order; none for `all`.
std::vector<OpId> walk_backward(const WorkingSetSizes& sizes, WorkingLedger& ledger, GradientPart part);

}  // namespace plumbline
