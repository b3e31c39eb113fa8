#pragma once
/// \file factored_update.h: the optimizer step of a rank whose optimizer factors squared gradients.
///
/// Model: section by section, in one buffer of the largest section's sums: squares of what the rank owns, added up over
/// the ranks that share the section's states and those that hold slices; the means of every parameter, whole on each
/// rank; squares of the updates, added up likewise; then the update of what the rank owns. Source:
/// core/sharding/factored_squares.h. Checked against: tests/unit/core/program/update_program_test.cpp.

#include "core/program/update_program.h"

namespace plumbline {

[[nodiscard]] UpdateProgram lower_factored_update(const ParameterLayout& layout, const Strategy& strategy,
                                                  std::int32_t rank);

}  // namespace plumbline
