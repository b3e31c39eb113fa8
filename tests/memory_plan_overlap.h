#pragma once
/// \file memory_plan_overlap.h: the plain rule that a memory plan must keep, pair by pair.

#include "runtime/memory_plan/memory_plan.h"

namespace plumbline {

/// Whether some byte belongs to two lives at one action, or to a life outside of the arena.
inline bool has_overlap(const std::vector<BufferLife>& lives, Bytes size) {
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const BufferLife& a = lives[i];
    if (a.offset < Bytes(0) || a.offset + a.bytes > size) return true;
    for (std::size_t j = 0; j < i; ++j) {
      const BufferLife& b = lives[j];
      const bool share_time = !(a.last < b.first || b.last < a.first);
      const bool share_bytes = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      if (share_time && share_bytes) return true;
    }
  }
  return false;
}

}  // namespace plumbline
