#pragma once
/// \file state_parts.h: which elements of the weights and of the optimizer's state a rank holds, and for which of them
/// it answers in a checkpoint.
///
/// Model: ranges of a parameter's box, in row-major order. Over all ranks of a run each element of each part is
/// answered for exactly once: by the first of those that hold copies, under ZeRO by the one that updates it.
/// Checked against: tests/runtime/execution/resharding_test.cpp (every element once, for random strategies).

#include "core/program/parameter_copies.h"

namespace plumbline {

/// `row_squares`, `column_squares`: means of squared gradients, whole on every rank that shares the parameter.
enum class StatePart : std::uint8_t { weight, master, first_moment, second_moment, row_squares, column_squares };

struct StateRange {
  std::int32_t parameter = 0;  ///< of the rank's layout
  StatePart part = StatePart::weight;
  ElementRange elements;  ///< of the part's box
};

/// What of a whole tensor a rank has of a part.
[[nodiscard]] TensorBox box_of(const LocalParameter& parameter, StatePart part);

[[nodiscard]] std::vector<StateRange> answered_state(const ParameterLayout& layout, const Strategy& strategy,
                                                     const Training& training, std::int32_t rank);
/// All that a rank keeps between steps, copies included.
[[nodiscard]] std::vector<StateRange> held_state(const ParameterLayout& layout, const Strategy& strategy,
                                                 const Training& training);

}  // namespace plumbline
