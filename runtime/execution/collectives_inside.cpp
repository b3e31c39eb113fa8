#include "runtime/execution/collectives_inside.h"

#include <algorithm>
#include <optional>

#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

/// Of what a compute action runs. Weight gradients that were put off gather rows again; the backward before lists that.
std::optional<BlockPass> pass_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward: return BlockPass::forward;
    case ActionKind::recompute: return BlockPass::recompute;
    case ActionKind::backward: return BlockPass::backward;
    case ActionKind::backward_input: return BlockPass::backward_input;
    default: return std::nullopt;
  }
}

/// The action that lists what an instruction sends, if it sends.
std::optional<ActionKind> action_of(const Instruction& i) {
  const bool is_ring = i.role == KernelRole::ring_forward || i.role == KernelRole::ring_backward;
  if (i.kind == InstructionKind::kernel && is_ring) return ActionKind::context_collective;
  if (i.kind != InstructionKind::collective) return std::nullopt;
  return i.axis == Axis::tensor ? ActionKind::tensor_collective : ActionKind::expert_collective;
}

}  // namespace

void CollectivesInside::require_listed(std::int32_t index, const BlockProgram& block) const {
  const auto action = [&](std::int32_t i) -> const Action& { return rank_.actions[static_cast<std::size_t>(i)]; };
  const auto pass = pass_of(action(index).kind);
  if (!pass) return;
  const auto is_listed = [&](ActionKind kind) {
    for (std::int32_t i = index + 1; i < std::ssize(rank_.actions) && !computes(action(i)); ++i)
      if (action(i).kind == kind && action(i).pass != Pass::step) return true;
    return false;
  };
  for (const Instruction& i : block.pass(*pass)) {
    const auto kind = action_of(i);
    if (!kind || is_listed(*kind)) continue;
    throw InternalError(to_text(action(index)) + ": the program lists no " + std::string(to_text(*kind)) +
                        " behind it, and its block runs one");
  }
}

CollectivesInside::OfAxes CollectivesInside::now() {
  const auto all = [&](std::initializer_list<Axis> axes) {
    Inside sum;
    for (const Axis axis : axes) {
      const SentByKind& sent = groups_[axis].sent();
      for (const Bytes bytes : sent.bytes) sum.sent += bytes;
      sum.spent_ns += sent.spent_ns;
    }
    return sum;
  };
  return {all({Axis::tensor}), all({Axis::context}), all({Axis::expert, Axis::expert_tensor})};
}

void CollectivesInside::end_block(std::int32_t index, std::vector<ActionTime>& times) {
  const OfAxes after = now();
  constexpr std::array kinds{ActionKind::tensor_collective, ActionKind::context_collective,
                             ActionKind::expert_collective};
  const std::int32_t micro_batch = rank_.actions[static_cast<std::size_t>(index)].micro_batch;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::int32_t place = index;
    for (std::int32_t i = index + 1; i < std::ssize(rank_.actions); ++i) {
      const Action& a = rank_.actions[static_cast<std::size_t>(i)];
      if (computes(a)) break;
      if (a.kind == kinds[k] && a.micro_batch == micro_batch) place = i;
    }
    times[static_cast<std::size_t>(place)].sent += after[k].sent - before_[k].sent;
    if (place == index) continue;
    times[static_cast<std::size_t>(place)].is_inside = true;
    spent_.push_back({index, place, after[k].spent_ns - before_[k].spent_ns});
  }
}

void CollectivesInside::book(std::vector<ActionTime>& times) const {
  for (const Spent& spent : spent_) {
    ActionTime& block = times[static_cast<std::size_t>(spent.block)];
    ActionTime& collective = times[static_cast<std::size_t>(spent.place)];
    collective.end_ns = block.end_ns;
    // Calls are timed on the host, whose part may be longer than the device's.
    collective.start_ns = block.end_ns -= std::min(spent.ns, block.end_ns - block.start_ns);
  }
}

}  // namespace plumbline
