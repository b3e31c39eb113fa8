#include "core/program/action_kinds.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

void push_collective(Actions& actions, const Action& block, BlockAxis axis, Bytes bytes) {
  if (bytes.value() == 0) return;
  const auto& pass = std::get<ComputePass>(block.what);
  actions.push_back(
      beside(block, BlockCollective{.axis = axis, .of = pass.of, .segment = pass.segment, .bytes = bytes}));
}

const WireBytes& bytes_of(ComputeKind kind, const SegmentSizes& segment) {
  if (kind == ComputeKind::recompute) return segment.recompute;
  return kind == ComputeKind::forward ? segment.forward : segment.backward;
}

}  // namespace

Actions add_collectives(const RankContext& context, const Actions& before) {
  Actions actions;
  actions.reserve(2 * before.size());
  for (const Action& action : before) {
    actions.push_back(action);
    const ComputeKind kind = std::get<ComputePass>(action.what).of;
    if (kind == ComputeKind::backward_weight) continue;
    const WireBytes& sent = bytes_of(kind, context.segment(action));
    push_collective(actions, action, BlockAxis::tensor, sent.tensor);
    push_collective(actions, action, BlockAxis::context, sent.context);
    push_collective(actions, action, BlockAxis::expert, sent.expert);
  }
  return actions;
}

}  // namespace plumbline::passes
