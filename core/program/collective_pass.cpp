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

const WireBytes& bytes_of(const Action& action, const SegmentSizes& segment) {
  if (action.kind == ActionKind::recompute) return segment.recompute;
  return action.pass == Pass::forward ? segment.forward : segment.backward;
}

}  // namespace

Actions add_collectives(const RankContext& context, const Actions& before) {
  Actions actions;
  actions.reserve(2 * before.size());
  for (const Action& action : before) {
    actions.push_back(action);
    if (action.pass == Pass::weight) continue;
    const WireBytes& sent = bytes_of(action, context.segment(action));
    push_collective(actions, action, ActionKind::tensor_collective, Stream::tensor, Axis::tensor, sent.tensor);
    push_collective(actions, action, ActionKind::context_collective, Stream::context, Axis::context, sent.context);
    push_collective(actions, action, ActionKind::expert_collective, Stream::expert, Axis::expert, sent.expert);
  }
  return actions;
}

}  // namespace plumbline::passes
