#pragma once
/// \file in_flight.h: how many states of forwards a rank holds while it runs its order, counted action by action.
///
/// Model: activations live from a forward to its backward or input gradient; what the weight gradient still needs
/// (inputs of products and gradients of their outputs) lives from there to the weight gradient.
/// Source: schedules-in-flight counting of arXiv:2104.04473 and arXiv:2401.10241 section 2.

#include <algorithm>

#include "core/program/compute_schedule.h"

namespace plumbline {

struct InFlight {
  std::int64_t states = 0;         ///< from forward to weight gradient: what "in flight" means without freeing early
  std::int64_t activations = 0;    ///< from forward to backward or input gradient
  std::int64_t weight_states = 0;  ///< from input gradient to weight gradient
  bool operator==(const InFlight&) const = default;
};

/// Peaks over the order, in chunks (one micro-batch of one chunk).
[[nodiscard]] inline InFlight in_flight(const RankOrder& order) {
  InFlight now;
  InFlight peak;
  for (const ComputeAction& action : order) {
    switch (action.kind) {
      case ActionKind::forward: ++now.states, ++now.activations; break;
      case ActionKind::backward: --now.states, --now.activations; break;
      case ActionKind::backward_input: --now.activations, ++now.weight_states; break;
      case ActionKind::backward_weight: --now.states, --now.weight_states; break;
      default: break;
    }
    peak.states = std::max(peak.states, now.states);
    peak.activations = std::max(peak.activations, now.activations);
    peak.weight_states = std::max(peak.weight_states, now.weight_states);
  }
  return peak;
}

}  // namespace plumbline
