#include "core/program/buffer_check.h"

namespace plumbline {
namespace {

enum class State : std::uint8_t { absent, allocated, written };

/// What is wrong with an access in this state, if anything; the state moves on.
const char* fault_of(Access access, State& state) {
  if (access == Access::allocate) {
    if (state != State::absent) return "allocates again";
    state = State::allocated;
    return nullptr;
  }
  if (state == State::absent) return "uses after release";
  if (access == Access::write) state = State::written;
  if (access == Access::read && state != State::written) return "reads before anything is written to";
  if (access == Access::release) state = State::absent;
  return nullptr;
}

std::string name_of(std::int32_t buffer, const RankProgram& rank) {
  return "buffer " + std::to_string(buffer) + " (" +
         std::string(to_text(rank.buffers[static_cast<std::size_t>(buffer)].memory_class)) + ")";
}

std::optional<std::string> rank_fault(const RankProgram& rank) {
  std::vector<State> states;
  for (const Buffer& buffer : rank.buffers)
    states.push_back(buffer.lifetime == Lifetime::persistent ? State::written : State::absent);
  for (const Action& action : rank.actions)
    for (const BufferUse& use : uses_of(action, rank)) {
      if (const char* fault = fault_of(use.access, states[static_cast<std::size_t>(use.buffer)]))
        return to_text(action) + " " + fault + " " + name_of(use.buffer, rank);
    }
  for (std::size_t b = 0; b < states.size(); ++b)
    if ((rank.buffers[b].lifetime == Lifetime::persistent) != (states[b] != State::absent))
      return name_of(static_cast<std::int32_t>(b), rank) + " is not as before at the end of the step";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> buffer_fault(const Program& program) {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    if (auto fault = rank_fault(program.ranks[rank])) return "rank " + std::to_string(rank) + ": " + *fault;
  return std::nullopt;
}

}  // namespace plumbline
