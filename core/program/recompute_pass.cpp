#include "core/program/passes.h"

namespace plumbline::passes {

Actions add_recompute(const RankContext& context, const Actions& before) {
  Actions actions;
  actions.reserve(2 * before.size());
  for (const Action& action : before) {
    if (action.pass == Pass::backward && context.segment(action).restores == Restores::something) {
      actions.push_back(action);
      actions.back().kind = ActionKind::recompute;
      actions.back().replay = IsReplay::yes;
    }
    actions.push_back(action);
  }
  return actions;
}

}  // namespace plumbline::passes
