#include "core/program/in_flight.h"

#include <algorithm>

namespace plumbline {

InFlight in_flight(const RankOrder& order) {
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
