#pragma once
/// \file action_kinds.h: kinds of actions that passes, folds, the simulator and the runtime treat alike.

#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] constexpr bool is_send(ActionKind kind) {
  return kind == ActionKind::send_forward || kind == ActionKind::send_backward;
}

[[nodiscard]] constexpr bool is_receive(ActionKind kind) {
  return kind == ActionKind::receive_forward || kind == ActionKind::receive_backward;
}

[[nodiscard]] constexpr bool makes_weight_gradients(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_weight;
}

/// Whether an action runs operators of a micro-batch.
[[nodiscard]] inline bool computes(const Action& a) { return a.stream == Stream::compute && a.pass != Pass::step; }

/// Whether an action is a view of collectives that a block's pass runs among its instructions.
[[nodiscard]] inline bool is_inside_block(const Action& a) {
  return a.pass != Pass::step && (a.kind == ActionKind::tensor_collective || a.kind == ActionKind::context_collective ||
                                  a.kind == ActionKind::expert_collective);
}

}  // namespace plumbline
