#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

bool makes_weight_gradients(const Action& a) {
  return a.kind == ActionKind::backward || a.kind == ActionKind::backward_weight;
}

Action reduction(Axis axis, Bytes bytes) {
  Action action;
  action.kind = ActionKind::reduce_gradients;
  action.stream = Stream::data;
  action.pass = Pass::step;
  action.axis = axis;
  action.bytes = bytes;
  return action;
}

Action reduction_of(const Action& at, Bytes bytes) {
  Action action = reduction(Axis::shard, bytes);
  action.pass = at.pass;
  action.chunk = at.chunk;
  action.micro_batch = at.micro_batch;
  action.piece = at.piece;
  return action;
}

/// Both ends of the pipeline hold a copy of a tied embedding.
Action tied_reduction(const RankContext& context) {
  Action action = reduction(Axis::pipeline, context.sizes().tied);
  action.barrier = Barrier::gradients;
  action.peer = context.rank == 0 ? context.input.schedule.shape.pipeline_stages - 1 : 0;
  return action;
}

}  // namespace

Actions add_reductions(const RankContext& context, const Actions& before) {
  Actions actions;
  actions.reserve(2 * before.size() + 3);
  bool made = false;  // weight gradients, by the piece at work
  for (std::size_t i = 0; i < before.size(); ++i) {
    actions.push_back(before[i]);
    made = made || makes_weight_gradients(before[i]);
    if (i + 1 < before.size() && piece_of(before[i + 1]) == piece_of(before[i])) continue;
    if (made && context.input.zero_stage >= 2)
      actions.push_back(reduction_of(before[i], context.piece(before[i]).scatter));
    made = false;
  }
  const Axis group = context.input.zero_stage == 0 ? Axis::gradient : Axis::shard;
  if (context.sizes().reduction.value() > 0) actions.push_back(reduction(group, context.sizes().reduction));
  if (context.sizes().tied.value() > 0) actions.push_back(tied_reduction(context));
  return actions;
}

Actions add_optimizer_step(const RankContext&, const Actions& before) {
  Actions actions = before;
  Action& action = actions.emplace_back();
  action.kind = ActionKind::optimizer_step;
  action.pass = Pass::step;
  action.barrier = Barrier::gradient_norm;
  return actions;
}

}  // namespace plumbline::passes
