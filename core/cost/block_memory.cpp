#include "core/cost/block_memory.h"

#include "core/base/errors.h"

namespace plumbline {

void BlockMemory::hold(std::int32_t buffer, MemoryClass memory_class) {
  classes_[static_cast<std::size_t>(buffer)] = memory_class;
  live_[memory_class] += bytes(buffer);
  most_[memory_class] = std::max(most_[memory_class], live_[memory_class]);
}

void BlockMemory::drop(std::int32_t buffer) {
  std::optional<MemoryClass>& held = classes_[static_cast<std::size_t>(buffer)];
  if (!held) return;
  live_[*held] -= bytes(buffer);
  held.reset();
}

void BlockMemory::run(BlockPass pass) {
  for (const Instruction& i : program_.pass(pass)) {
    if (i.kind == InstructionKind::kernel || i.kind == InstructionKind::collective) continue;
    const std::int32_t buffer = program_.operands_of(i).front();
    check(buffer >= 0, "an instruction's buffer is there");
    if (i.kind != InstructionKind::allocate) drop(buffer);
    if (i.kind != InstructionKind::release) hold(buffer, i.memory_class);
  }
}

}  // namespace plumbline
