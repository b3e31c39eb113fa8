#include "runtime/execution/program_buffers.h"

namespace plumbline {

ProgramBuffers::ProgramBuffers(const RankProgram& rank) : rank_(rank) {
  for (const Buffer& buffer : rank.buffers)
    if (buffer.lifetime == Lifetime::persistent) now_[buffer.memory_class] += buffer.bytes;
}

void ProgramBuffers::follow(const Action& action, Access access) {
  for (const BufferUse& use : uses_of(action, rank_)) {
    if (use.access != access) continue;
    const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(use.buffer)];
    if (access == Access::allocate)
      now_[buffer.memory_class] += buffer.bytes;
    else
      now_[buffer.memory_class] -= buffer.bytes;
  }
}

void ProgramBuffers::require_fit(const Action& action, const LiveBytes& live, std::int32_t who) const {
  const MemoryBreakdown& most = live.most();
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    if (most.by_class[c] <= now_.by_class[c]) continue;
    throw InternalError("rank " + std::to_string(who) + ", " + to_text(action) + ": its operators hold " +
                        std::to_string(most.by_class[c].value()) + " bytes of " +
                        std::string(to_text(static_cast<MemoryClass>(c))) + ", the program's buffers " +
                        std::to_string(now_.by_class[c].value()));
  }
}

}  // namespace plumbline
