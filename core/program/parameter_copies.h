#pragma once
/// \file parameter_copies.h: which of the ranks that hold a copy of a parameter's states counts them.
///
/// Model: over all ranks of a run each trained element is answered for exactly once: by the first of those that hold
/// copies, under ZeRO by the one that updates it. Norms, checkpoints and comparisons count that one.
/// Checked against: tests/runtime/execution/resharding_test.cpp (every element once, for random strategies).

#include "core/program/parameter_layout.h"

namespace plumbline {

/// Whether this rank, of all that hold a copy of what it holds of the parameter, is the one that counts.
[[nodiscard]] bool answers_for(const Strategy& strategy, const LocalParameter& parameter, std::int32_t rank);

}  // namespace plumbline
