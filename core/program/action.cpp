#include "core/program/action.h"

namespace plumbline {

std::string_view to_text(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward: return "forward";
    case ActionKind::backward: return "backward";
    case ActionKind::backward_input: return "backward-input";
    case ActionKind::backward_weight: return "backward-weight";
    case ActionKind::recompute: return "recompute";
    case ActionKind::send_forward: return "send-forward";
    case ActionKind::receive_forward: return "receive-forward";
    case ActionKind::send_backward: return "send-backward";
    case ActionKind::receive_backward: return "receive-backward";
    case ActionKind::all_gather_parameters: return "all-gather-parameters";
    case ActionKind::release_parameters: return "release-parameters";
    case ActionKind::reduce_gradients: return "reduce-gradients";
    case ActionKind::tensor_collective: return "tensor-collective";
    case ActionKind::context_collective: return "context-collective";
    case ActionKind::expert_collective: return "expert-collective";
    case ActionKind::optimizer_step: return "optimizer-step";
    case ActionKind::offload: return "offload";
    case ActionKind::fetch: return "fetch";
  }
  return "";
}

std::string to_text(const ComputeAction& action, std::int32_t virtual_stages) {
  std::string text = std::string(to_text(action.kind)) + " " + std::to_string(action.micro_batch);
  if (virtual_stages > 1) text += " of chunk " + std::to_string(action.chunk);
  return text;
}

}  // namespace plumbline
