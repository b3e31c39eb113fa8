#pragma once
/// \file program_walk.h: one sequence of all ranks' actions in which nothing comes before what it needs.
///
/// Answers: every action once, shown to a visitor; or what the ranks that are left wait for.
/// Model: ranks issue in order; a receive waits until its send was issued; a barrier until every rank is at one or
/// is done, and of several kinds of barrier the earliest goes first. Linear in the number of actions.
/// Source: the worklist of dry_run.h, for whole programs. Not modelled: sends that block.
/// Checked against: tests/unit/core/program/lower_test.cpp; every simulation runs all actions or fails.

#include <optional>
#include <string>

#include "core/program/action_kinds.h"

namespace plumbline {

/// Where ranks stopped; the walk is done when every rank is.
struct WalkPositions {
  std::vector<std::size_t> next;
  std::vector<std::int32_t> woken;
};

/// Lets ranks whose next action is the earliest kind of barrier pass it; false when no rank is at one.
[[nodiscard]] bool pass_barrier(const Program& program, WalkPositions& positions, Barrier& passed);
/// What the unfinished ranks wait for, as one line; nothing when all are done.
[[nodiscard]] std::optional<std::string> stall(const Program& program, const WalkPositions& positions);

/// `visit(rank, action index)`; `at_barrier()` before the actions behind each barrier.
template <class Visit, class AtBarrier>
[[nodiscard]] std::optional<std::string> walk_program(const Program& program, Visit visit, AtBarrier at_barrier) {
  WalkPositions positions{std::vector<std::size_t>(program.ranks.size(), 0), {}};
  Barrier passed = Barrier::none;
  for (std::int32_t rank = program.shape.pipeline_stages - 1; rank >= 0; --rank) positions.woken.push_back(rank);
  do {
    while (!positions.woken.empty()) {
      const std::int32_t rank = positions.woken.back();
      positions.woken.pop_back();
      const std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
      for (std::size_t& next = positions.next[static_cast<std::size_t>(rank)]; next < actions.size(); ++next) {
        const Action& action = actions[next];
        if (action.barrier() > passed) break;
        if (const StageMessage* message = message_of(action); message != nullptr && message->peer_action >= 0) {
          const std::size_t peer = positions.next[static_cast<std::size_t>(message->peer)];
          const auto other = static_cast<std::size_t>(message->peer_action);
          const bool receives = message->end == MessageEnd::receive;
          if (receives && peer <= other) break;
          if (!receives && peer == other) positions.woken.push_back(message->peer);
        }
        visit(rank, static_cast<std::int32_t>(next));
      }
    }
    at_barrier();
  } while (pass_barrier(program, positions, passed));
  return stall(program, positions);
}

/// What ranks would wait for for ever; nothing when the program ends.
[[nodiscard]] std::optional<std::string> dry_run(const Program& program);

}  // namespace plumbline
