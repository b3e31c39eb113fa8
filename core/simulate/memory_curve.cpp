#include "core/simulate/memory_curve.h"

#include <span>

namespace plumbline {
namespace {

MemoryBreakdown persistent_memory(const RankProgram& rank) {
  MemoryBreakdown memory;
  for (const Buffer& buffer : rank.buffers)
    if (buffer.lifetime == Lifetime::persistent) memory[buffer.memory_class] += buffer.bytes;
  return memory;
}

/// Adds what the action allocates, or takes away what it releases; whether there was anything.
bool apply(const RankProgram& rank, const Action& action, Access access, MemoryBreakdown& memory, Bytes& total) {
  bool changed = false;
  for (const BufferUse& use : uses_of(action, rank)) {
    if (use.access != access) continue;
    const Buffer& buffer = rank.buffers[static_cast<std::size_t>(use.buffer)];
    const Bytes change = access == Access::allocate ? buffer.bytes : Bytes(-buffer.bytes.value());
    memory[buffer.memory_class] += change;
    total += change;
    changed = true;
  }
  return changed;
}

/// `visit(action, moment, memory, total)` after every change.
template <class Visit>
void walk(const RankProgram& rank, Visit visit) {
  MemoryBreakdown memory = persistent_memory(rank);
  Bytes total = memory.device_total();
  visit(-1, Moment::end, memory, total);
  for (std::int32_t i = 0; i < std::ssize(rank.actions); ++i) {
    const Action& action = rank.actions[static_cast<std::size_t>(i)];
    if (apply(rank, action, Access::allocate, memory, total)) visit(i, Moment::begin, memory, total);
    if (apply(rank, action, Access::release, memory, total)) visit(i, Moment::end, memory, total);
  }
}

}  // namespace

MemoryPeak memory_peak(const RankProgram& rank, double fragmentation_fraction) {
  MemoryPeak peak;
  Bytes most(-1);
  walk(rank, [&](std::int32_t action, Moment, const MemoryBreakdown& memory, Bytes total) {
    if (total <= most) return;
    most = total;
    peak = {memory, action};
  });
  const double live = static_cast<double>(peak.memory.live().value());
  peak.memory[MemoryClass::fragmentation] = Bytes(static_cast<std::int64_t>(live * fragmentation_fraction));
  return peak;
}

std::vector<MemoryPoint> memory_curve(const RankProgram& rank) {
  std::vector<MemoryPoint> curve;
  walk(rank, [&](std::int32_t action, Moment moment, const MemoryBreakdown& memory, Bytes) {
    curve.push_back({action, moment, memory});
  });
  return curve;
}

}  // namespace plumbline
