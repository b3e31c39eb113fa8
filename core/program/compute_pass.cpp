#include "core/base/errors.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

ComputeKind compute_kind(ActionKind kind) {
  check(kind <= ActionKind::backward_weight, "an order has actions that compute");
  return static_cast<ComputeKind>(kind);
}

}  // namespace

Actions compute(const RankContext& context) {
  const RankOrder& order = context.input.schedule.ranks[static_cast<std::size_t>(context.rank)];
  Actions actions;
  actions.reserve(order.size());
  for (const ComputeAction& step : order) {
    ComputePass pass;
    pass.of = compute_kind(step.kind);
    Action action;
    action.chunk = step.chunk;
    action.micro_batch = step.micro_batch;
    const auto segments =
        static_cast<std::int32_t>(context.sizes().chunks[static_cast<std::size_t>(step.chunk)].segments.size());
    for (std::int32_t i = 0; i < segments; ++i) {
      pass.segment = pass.pass() == Pass::forward ? i : segments - 1 - i;
      action.what = pass;
      actions.push_back(action);
    }
  }
  return actions;
}

}  // namespace plumbline::passes
