#pragma once
/// \file update_totals.h: what an update program gathers, holds and updates, summed for tests.

#include <algorithm>

#include "core/program/update_program.h"
#include "core/quantity/number_format.h"
#include "core/sharding/collective.h"

namespace plumbline {

/// What the rank sends to gather, or to add up, in bytes.
inline Bytes gathered_bytes(const UpdateProgram& program, GatherGroup group) {
  Bytes sum(0);
  for (const UpdateInstruction& i : program.instructions) {
    const bool reduces = i.kind == UpdateKind::reduce;
    if ((i.kind == UpdateKind::gather || reduces) && i.group == group)
      sum += wire_bytes(reduces ? Collective::all_reduce : Collective::all_gather,
                        storage(i.to.elements(), NumberFormat::fp32), i.ranks);
  }
  return sum;
}

/// Peak bytes of the buffers, scratch excluded.
inline Bytes buffer_bytes(const UpdateProgram& program) {
  Bytes live(0);
  Bytes most(0);
  for (const UpdateInstruction& i : program.instructions) {
    if (i.kind != UpdateKind::allocate && i.kind != UpdateKind::release) continue;
    const UpdateBuffer& buffer = program.buffers[static_cast<std::size_t>(i.to.buffer)];
    if (buffer.is_scratch) continue;
    const Bytes bytes = storage(buffer.elements, NumberFormat::fp32);
    live = i.kind == UpdateKind::allocate ? live + bytes : live - bytes;
    most = std::max(most, live);
  }
  return most;
}

inline std::int64_t updated_elements(const UpdateProgram& program) {
  std::int64_t sum = 0;
  for (const UpdateInstruction& i : program.instructions)
    if (i.kind == UpdateKind::update || i.kind == UpdateKind::update_matrix || i.kind == UpdateKind::apply ||
        i.kind == UpdateKind::take_update)
      sum += i.elements.count;
  return sum;
}

}  // namespace plumbline
