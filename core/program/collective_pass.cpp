#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

void push_collective(Actions& actions, Action action, ActionKind kind, Stream stream, Axis axis, Bytes bytes) {
  if (bytes.value() == 0) return;
  action.kind = kind;
  action.stream = stream;
  action.axis = axis;
  action.bytes = bytes;
  actions.push_back(action);
}

}  // namespace

Actions add_collectives(const RankContext& context, const Actions& before) {
  Actions actions;
  actions.reserve(2 * before.size());
  for (const Action& action : before) {
    actions.push_back(action);
    if (action.pass == Pass::weight || action.kind == ActionKind::recompute) continue;
    const PieceSizes& piece = context.piece(action);
    const PassBytes& sent = action.pass == Pass::forward ? piece.forward : piece.backward;
    push_collective(actions, action, ActionKind::tensor_collective, Stream::tensor, Axis::tensor, sent.tensor);
    push_collective(actions, action, ActionKind::context_collective, Stream::context, Axis::context, sent.context);
    push_collective(actions, action, ActionKind::expert_collective, Stream::expert, Axis::expert, sent.expert);
  }
  return actions;
}

}  // namespace plumbline::passes
