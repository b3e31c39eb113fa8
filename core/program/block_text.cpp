#include <sstream>

#include "core/program/block_program.h"

namespace plumbline {
namespace {

constexpr std::array pass_names{"forward", "recompute", "backward", "backward-input", "keep-for-weights", "weight"};
static_assert(pass_names.size() == block_pass_count);

void add_line(std::ostringstream& text, const BlockProgram& program, const Block& block, const Instruction& i) {
  const auto operands = program.operands_of(i);
  const auto name = [](std::int32_t buffer) { return buffer < 0 ? std::string("-") : "%" + std::to_string(buffer); };
  text << "  ";
  switch (i.kind) {
    case InstructionKind::allocate: {
      const BlockBuffer& buffer = program.buffers[static_cast<std::size_t>(operands.front())];
      text << name(operands.front()) << " = allocate " << buffer.bytes.value() << " B";
      if (buffer.like.is_valid()) text << " like " << block.tensor(buffer.like).name;
      text << ", " << to_text(i.memory_class) << '\n';
      return;
    }
    case InstructionKind::release: text << "release"; break;
    case InstructionKind::reclassify: text << "reclassify as " << to_text(i.memory_class); break;
    case InstructionKind::kernel:
      text << block.op(OpId(i.op)).name << ' ' << to_text(i.role) << (i.accumulates ? " +=" : "");
      break;
    case InstructionKind::collective:
      text << to_text(i.collective) << (i.reduction == Reduction::maximum ? " of maxima" : "") << " over "
           << to_text(i.axis);
      break;
  }
  for (const std::int32_t buffer : operands) text << ' ' << name(buffer);
  if (i.waits_for >= 0) text << ", behind instruction " << i.waits_for;
  text << '\n';
}

}  // namespace

std::string_view to_text(KernelRole role) {
  constexpr std::array names{
      "forward",        "add-bias",     "ring-forward",      "loss-maximum",  "loss-sum",        "loss-gradient",
      "route",          "permute",      "unpermute",         "sort-arrivals", "unsort-arrivals", "weigh",
      "weigh-gradient", "backward",     "deferred-backward", "ring-backward", "input-gradient",  "weight-gradient",
      "pack-heads",     "unpack-heads", "add-deferred",      "accumulate"};
  static_assert(names.size() == static_cast<std::size_t>(KernelRole::accumulate) + 1);
  return names[static_cast<std::size_t>(role)];
}

std::string to_text(const BlockProgram& program, const Block& block, BackwardForm form) {
  std::ostringstream text;
  for (std::size_t p = 0; p < block_pass_count; ++p) {
    const bool is_of_split = p >= static_cast<std::size_t>(BlockPass::backward_input);
    if (program.passes[p].empty() || (is_of_split && form == BackwardForm::whole)) continue;
    text << pass_names[p] << ":\n";
    for (const Instruction& i : program.passes[p]) add_line(text, program, block, i);
  }
  return text.str();
}

}  // namespace plumbline
