#pragma once
/// \file program_lives.h: what of a rank's program lives when, for tests of placing.

#include <map>

#include "core/base/errors.h"
#include "core/program/program.h"
#include "runtime/memory_plan/memory_plan.h"

namespace plumbline {

using LivesByClass = std::map<MemoryClass, std::vector<BufferLife>>;

/// From the action that allocates a buffer to the one that releases it, both included, as in
/// core/simulate/memory_curve.h. Persistent buffers live throughout. Requires a program without buffer faults.
[[nodiscard]] inline LivesByClass program_lives(const RankProgram& rank) {
  const auto actions = static_cast<std::int32_t>(rank.actions.size());
  LivesByClass lives;
  std::vector<std::int32_t> open(rank.buffers.size(), -1);  // the life of a buffer that has no end yet
  const auto of = [&](std::int32_t b) -> const Buffer& { return rank.buffers[static_cast<std::size_t>(b)]; };
  for (std::int32_t b = 0; b < std::ssize(rank.buffers); ++b)
    if (of(b).lifetime == Lifetime::persistent)
      lives[of(b).memory_class].push_back({b, -1, actions, of(b).bytes, Bytes(0)});
  for (std::int32_t a = 0; a < actions; ++a) {
    const Action& action = rank.actions[static_cast<std::size_t>(a)];
    for (std::int32_t u = action.first_use; u < action.first_use + action.uses; ++u) {
      const BufferUse& use = rank.uses[static_cast<std::size_t>(u)];
      const auto b = static_cast<std::size_t>(use.buffer);
      std::vector<BufferLife>& of_class = lives[of(use.buffer).memory_class];
      if (use.access == Access::allocate) {
        open[b] = static_cast<std::int32_t>(of_class.size());
        of_class.push_back({use.buffer, a, actions, of(use.buffer).bytes, Bytes(0)});
      } else if (use.access == Access::release) {
        check(open[b] >= 0, "what is released was allocated");
        of_class[static_cast<std::size_t>(open[b])].last = a;
        open[b] = -1;
      }
    }
  }
  return lives;
}

}  // namespace plumbline
