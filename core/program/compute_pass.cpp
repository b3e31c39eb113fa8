#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

Pass pass_of(ActionKind kind) {
  if (kind == ActionKind::forward) return Pass::forward;
  return kind == ActionKind::backward_weight ? Pass::weight : Pass::backward;
}

}  // namespace

Actions compute(const RankContext& context) {
  const RankOrder& order = context.input.schedule.ranks[static_cast<std::size_t>(context.rank)];
  Actions actions;
  actions.reserve(order.size());
  for (const ComputeAction& step : order) {
    Action action;
    action.kind = step.kind;
    action.pass = pass_of(step.kind);
    action.chunk = step.chunk;
    action.micro_batch = step.micro_batch;
    const auto segments =
        static_cast<std::int32_t>(context.sizes().chunks[static_cast<std::size_t>(step.chunk)].segments.size());
    for (std::int32_t i = 0; i < segments; ++i) {
      action.segment = action.pass == Pass::forward ? i : segments - 1 - i;
      actions.push_back(action);
    }
  }
  return actions;
}

}  // namespace plumbline::passes
