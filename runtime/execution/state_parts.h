#pragma once
/// \file state_parts.h: which elements of the weights and of the optimizer's state a rank holds, and for which of them
/// it answers in a checkpoint.
///
/// Model: ranges of a parameter's box, in row-major order. Over all ranks of a run each element of each part is
/// answered for exactly once: by the first of those that hold copies, under ZeRO by the one that updates it.
/// Checked against: tests/runtime/execution/resharding_test.cpp (every element once, for random strategies).

#include "runtime/communication/communicator.h"
#include "runtime/execution/parameter_layout.h"

namespace plumbline {

enum class StatePart : std::uint8_t { weight, master, first_moment, second_moment };

struct StateRange {
  std::int32_t parameter = 0;  ///< of the rank's layout
  StatePart part = StatePart::weight;
  ElementRange elements;  ///< of the parameter's box
};

/// Moments that the optimizer keeps for each element of a parameter.
[[nodiscard]] int moments_of(const LocalParameter& parameter, Optimizer optimizer);

/// Whether this rank, of all that hold a copy of what it holds of the parameter, is the one that counts.
[[nodiscard]] bool answers_for(const Strategy& strategy, const LocalParameter& parameter, std::int32_t rank);

[[nodiscard]] std::vector<StateRange> answered_state(const ParameterLayout& layout, const Strategy& strategy,
                                                     const Training& training, std::int32_t rank);
/// All that a rank keeps between steps, copies included.
[[nodiscard]] std::vector<StateRange> held_state(const ParameterLayout& layout, const Strategy& strategy,
                                                 const Training& training);

}  // namespace plumbline
