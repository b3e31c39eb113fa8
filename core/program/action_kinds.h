#pragma once
/// \file action_kinds.h: kinds of actions that passes, folds, the simulator and the runtime treat alike.

#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] constexpr bool is_send(ActionKind kind) {
  return kind == ActionKind::send_forward || kind == ActionKind::send_backward;
}

[[nodiscard]] constexpr bool makes_weight_gradients(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_weight;
}
[[nodiscard]] constexpr bool makes_weight_gradients(ComputeKind kind) {
  return makes_weight_gradients(action_kind(kind));
}

/// Whether an action runs operators of a micro-batch.
[[nodiscard]] inline bool computes(const Action& a) { return std::holds_alternative<ComputePass>(a.what); }

/// The pass that makes gradients of weights; null for other actions.
[[nodiscard]] inline const ComputePass* weight_gradients_of(const Action& a) {
  const auto* pass = std::get_if<ComputePass>(&a.what);
  return pass != nullptr && makes_weight_gradients(pass->of) ? pass : nullptr;
}

/// Whether it is part of a recompute.
[[nodiscard]] inline bool is_replay(const Action& a) {
  if (const auto* pass = std::get_if<ComputePass>(&a.what)) return pass->of == ComputeKind::recompute;
  const auto* collective = std::get_if<BlockCollective>(&a.what);
  return collective != nullptr && collective->of == ComputeKind::recompute;
}

/// Null for other actions, as are the next two.
[[nodiscard]] inline const StageMessage* message_of(const Action& a) { return std::get_if<StageMessage>(&a.what); }
[[nodiscard]] inline const StageMessage* sent_by(const Action& a) {
  const StageMessage* message = message_of(a);
  return message != nullptr && message->end == MessageEnd::send ? message : nullptr;
}
[[nodiscard]] inline const StageMessage* received_by(const Action& a) {
  const StageMessage* message = message_of(a);
  return message != nullptr && message->end == MessageEnd::receive ? message : nullptr;
}
/// Whether an action is a receive that occupies nobody.
[[nodiscard]] inline bool receives_in_transit(const Action& a) {
  const StageMessage* received = received_by(a);
  return received != nullptr && received->handover == Handover::in_transit;
}

/// What a rank does, as timelines tell it apart.
enum class TimelineKind : std::uint8_t { forward, backward, weight, recompute, communication, host_copy, optimizer };
inline constexpr std::size_t timeline_kind_count = 7;
[[nodiscard]] constexpr TimelineKind timeline_kind(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward: return TimelineKind::forward;
    case ActionKind::backward:
    case ActionKind::backward_input: return TimelineKind::backward;
    case ActionKind::backward_weight: return TimelineKind::weight;
    case ActionKind::recompute: return TimelineKind::recompute;
    case ActionKind::offload:
    case ActionKind::fetch: return TimelineKind::host_copy;
    case ActionKind::optimizer_step: return TimelineKind::optimizer;
    default: return TimelineKind::communication;
  }
}

}  // namespace plumbline
