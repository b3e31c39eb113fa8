#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

Action sharing_action(const Action& at, ActionKind kind, Bytes bytes) {
  Action action = at;
  action.kind = kind;
  action.stream = Stream::data;
  action.axis = Axis::shard;
  action.bytes = bytes;
  return action;
}

bool uses_parameters(const Action& action) {
  return action.piece >= 0 && (action.pass == Pass::forward || action.pass == Pass::backward);
}

}  // namespace

Actions add_gathers(const RankContext& context, const Actions& before) {
  if (context.input.zero_stage < 3) return before;
  Actions actions;
  actions.reserve(3 * before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Action& action = before[i];
    if (!uses_parameters(action)) {
      actions.push_back(action);
      continue;
    }
    if (i == 0 || piece_of(before[i - 1]) != piece_of(action))
      actions.push_back(sharing_action(action, ActionKind::all_gather_parameters, context.piece(action).gather));
    actions.push_back(action);
    if (i + 1 == before.size() || piece_of(before[i + 1]) != piece_of(action))
      actions.push_back(sharing_action(action, ActionKind::release_parameters, Bytes(0)));
  }
  return actions;
}

}  // namespace plumbline::passes
