#include "core/program/block_lanes.h"

#include <algorithm>

namespace plumbline {
namespace {

bool touches(const Instruction& i) {
  return i.kind != InstructionKind::allocate && i.kind != InstructionKind::reclassify;
}

/// `last_use`: by buffer, the last collective of the pass that uses it; -1: none. Left as it was found.
void add_waits(const BlockProgram& program, std::vector<Instruction>& pass, std::vector<std::int32_t>& last_use) {
  std::int32_t waited = -1;  // this collective and those before it have ended for the compute lane
  for (std::int32_t index = 0; index < std::ssize(pass); ++index) {
    Instruction& i = pass[static_cast<std::size_t>(index)];
    const bool communicates = lane_of(i) != Stream::compute;
    for (const std::int32_t buffer : program.operands_of(i)) {
      if (buffer < 0) continue;
      std::int32_t& last = last_use[static_cast<std::size_t>(buffer)];
      if (communicates)
        last = index;  // its lane is in order
      else if (touches(i) && last > waited)
        i.waits_for = std::max(i.waits_for, last);
    }
    waited = std::max(waited, i.waits_for);
  }
  for (const Instruction& i : pass)
    if (lane_of(i) != Stream::compute)
      for (const std::int32_t buffer : program.operands_of(i)) last_use[static_cast<std::size_t>(buffer)] = -1;
}

}  // namespace

void add_waits(BlockProgram& program) {
  std::vector<std::int32_t> last_use(program.buffers.size(), -1);
  for (std::vector<Instruction>& pass : program.passes) add_waits(program, pass, last_use);
}

}  // namespace plumbline
