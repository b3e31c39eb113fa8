#include <algorithm>

#include "core/program/passes.h"

namespace plumbline::passes {

void add_recompute(const RankContext& context, Actions& actions) {
  const auto restores = [&](const Action& action) {
    return action.pass() == Pass::backward && context.segment(action).restores == Restores::something;
  };
  if (std::none_of(actions.begin(), actions.end(), restores)) return;
  Actions longer;
  longer.reserve(2 * actions.size());
  for (const Action& action : actions) {
    if (restores(action)) {
      const std::int32_t last = action.segment();
      const std::int32_t from = context.segment(action).replayed_from;
      for (std::int32_t segment = from < 0 ? last : from; segment <= last; ++segment)
        longer.push_back(beside(action, ComputePass{.of = ComputeKind::recompute, .segment = segment}));
    }
    longer.push_back(action);
  }
  actions = std::move(longer);
}

}  // namespace plumbline::passes
