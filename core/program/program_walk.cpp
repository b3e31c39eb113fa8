#include "core/program/program_walk.h"

#include <algorithm>

namespace plumbline {

bool pass_barrier(const Program& program, WalkPositions& positions, Barrier& passed) {
  constexpr auto nothing = Barrier::none;
  Barrier earliest = nothing;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Action>& actions = program.ranks[rank].actions;
    if (positions.next[rank] == actions.size()) continue;
    const Barrier barrier = actions[positions.next[rank]].barrier();
    if (barrier <= passed) return false;  // stalled at something else
    earliest = earliest == nothing ? barrier : std::min(earliest, barrier);
    positions.woken.push_back(static_cast<std::int32_t>(rank));
  }
  passed = std::max(passed, earliest);
  return earliest != nothing;
}

std::optional<std::string> stall(const Program& program, const WalkPositions& positions) {
  std::string text;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Action>& actions = program.ranks[rank].actions;
    if (positions.next[rank] == actions.size()) continue;
    const Action& action = actions[positions.next[rank]];
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + " waits at " + to_text(action);
    if (const std::int32_t peer = action.peer(); peer >= 0) text += " for rank " + std::to_string(peer);
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> dry_run(const Program& program) {
  return walk_program(
      program, [](std::int32_t, std::int32_t) {}, [] {});
}

}  // namespace plumbline
