#include "core/program/action_kinds.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

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
    const auto& pass = std::get<ComputePass>(action.what);
    if (pass.of == ComputeKind::backward_weight) continue;
    const WireBytes& sent = bytes_of(pass.of, context.segment(action));
    for (const BlockAxis axis : block_axes)
      if (sent[axis].value() != 0)
        actions.push_back(
            beside(action, BlockCollective{.axis = axis, .of = pass.of, .segment = pass.segment, .bytes = sent[axis]}));
  }
  return actions;
}

}  // namespace plumbline::passes
