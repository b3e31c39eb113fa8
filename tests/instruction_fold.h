#pragma once
/// \file instruction_fold.h: what the instructions of a rank's blocks hold and send, summed up action by action, and
/// what the buffers of its program hold meanwhile.
///
/// A program of single blocks. Of its actions only kind, block and micro-batch are read; sizes come from the lowered
/// blocks (core/program/block_program.h).

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/cost/block_memory.h"
#include "core/graph/graph.h"
#include "core/plan/pipeline_schedule.h"
#include "core/program/block_sends.h"
#include "core/program/program.h"
#include "core/program/wire_bytes.h"

namespace plumbline {

/// The blocks of a rank, lowered as the runtime lowers them.
class RankBlocks {
 public:
  RankBlocks(const Graph& graph, const Shard& shard, const std::vector<Replay>& replays, const RankProgram& rank,
             Schedule schedule)
      : shard_(shard), rank_(rank) {
    const BackwardForm form = splits_backward(schedule) ? BackwardForm::split : BackwardForm::whole;
    const std::vector<BlockId> sequence = graph.sequence();
    for (const std::vector<Segment>& segments : rank.chunks)
      for (const Segment& segment : segments) {
        const auto at = static_cast<std::size_t>(segment.first);
        const Block& block = graph.block(sequence[at]);
        blocks_.emplace(segment.first, &block);
        programs_.emplace(segment.first, BlockLowering(block, shard).lower(replays[at], form));
      }
  }
  [[nodiscard]] std::int32_t execution(const Action& a) const {
    return rank_.chunks[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(a.segment())].first;
  }
  [[nodiscard]] const BlockProgram& program(std::int32_t execution) const { return programs_.at(execution); }
  /// Of the pass that an action runs.
  [[nodiscard]] WireBytes sent(const Action& a, BlockPass pass) const {
    WireBytes sum;
    const std::int32_t of = execution(a);
    for (const BlockSend& send : block_sends(program(of), pass, *blocks_.at(of), shard_)) {
      const bool is_tensor = send.axis == Axis::tensor;
      const bool is_context = send.axis == Axis::context;
      const bool divides_experts = send.axis == Axis::expert_tensor;
      const std::int32_t ranks = is_tensor         ? shard_.tensor_parallel
                                 : is_context      ? shard_.context_parallel
                                 : divides_experts ? shard_.expert_tensor_parallel
                                                   : shard_.expert_parallel;
      sum[block_axis(send.axis)] += send.times * wire_bytes(send.kind, send.bytes, ranks);
    }
    return sum;
  }

 private:
  const Shard& shard_;
  const RankProgram& rank_;
  std::map<std::int32_t, const Block*> blocks_;  ///< by execution
  std::map<std::int32_t, BlockProgram> programs_;
};

[[nodiscard]] inline std::optional<BlockPass> pass_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward: return BlockPass::forward;
    case ActionKind::recompute: return BlockPass::recompute;
    case ActionKind::backward: return BlockPass::backward;
    case ActionKind::backward_input: return BlockPass::backward_input;
    case ActionKind::backward_weight: return BlockPass::weight;
    default: return std::nullopt;
  }
}

/// Of a whole step of a rank.
[[nodiscard]] inline WireBytes sent_by_instructions(const RankBlocks& blocks, const RankProgram& rank) {
  WireBytes sum;
  for (const Action& a : rank.actions)
    if (const auto pass = pass_of(a.kind()); pass && a.segment() >= 0 && a.stream() == Stream::compute)
      sum += blocks.sent(a, *pass);
  return sum;
}

/// Follows the instructions of all micro-batches in flight.
class InstructionMemory {
 public:
  explicit InstructionMemory(const RankBlocks& blocks) : blocks_(blocks) {}

  /// The most of each class while a block runs; a replay counts with the backward behind it.
  std::optional<MemoryBreakdown> most_during(const Action& a) {
    if (a.kind() == ActionKind::offload) copy_out({blocks_.execution(a), a.micro_batch});
    if (a.kind() == ActionKind::fetch) copy_back({blocks_.execution(a), a.micro_batch});
    const auto pass = pass_of(a.kind());
    if (!pass || a.segment() < 0 || a.stream() != Stream::compute) return std::nullopt;
    const Place place{blocks_.execution(a), a.micro_batch};
    const BlockProgram& program = blocks_.program(place.first);
    if (*pass == BlockPass::recompute) {
      if (!program.replay_outputs.empty()) return most_of_row(place, program);
      replays_ = true;
      return std::nullopt;
    }
    BlockMemory& memory = states_.try_emplace(place, program).first->second;
    memory.begin();
    if (*pass == BlockPass::forward) bring_inputs(memory, program);
    if (*pass == BlockPass::backward || *pass == BlockPass::backward_input) bring_gradients(memory, program, *pass);
    if (std::exchange(replays_, false)) {
      for (const std::int32_t input : program.replay_inputs) memory.hold(input, MemoryClass::working_buffers);
      memory.run(BlockPass::recompute);
    }
    memory.run(*pass);
    if (*pass == BlockPass::backward_input) memory.run(BlockPass::keep_for_weights);
    const MemoryBreakdown most = with_others(place, memory);
    if (*pass == BlockPass::forward)
      for (std::size_t i = 0; i < program.outputs.size(); ++i)
        if (!program.keeps_output[i]) memory.drop(program.outputs[i]);
    if (*pass == BlockPass::backward || *pass == BlockPass::weight) states_.erase(place);
    return most;
  }
  [[nodiscard]] bool is_empty() const { return states_.empty(); }

 private:
  using Place = std::pair<std::int32_t, std::int32_t>;  // execution and micro-batch
  static constexpr std::array classes{MemoryClass::activations, MemoryClass::working_buffers,
                                      MemoryClass::logits_and_loss};

  /// While a block is replayed that hands its output on; the gradient that the last of its row waits with is as large
  /// as its own.
  MemoryBreakdown most_of_row(const Place& place, const BlockProgram& program) {
    BlockMemory& memory = states_.at(place);
    bring_gradients(memory, program, BlockPass::backward);
    for (const std::int32_t input : program.replay_inputs) memory.hold(input, MemoryClass::working_buffers);
    memory.begin();
    memory.run(BlockPass::recompute);
    const MemoryBreakdown most = with_others(place, memory);
    for (const std::int32_t gradient : program.output_gradients_of(BlockPass::backward))
      if (gradient >= 0) memory.drop(gradient);
    for (std::size_t i = 0; i < program.replay_outputs.size(); ++i)
      if (!program.restores_output[i]) memory.drop(program.replay_outputs[i]);
    return most;
  }
  /// Everything that a state keeps as activations.
  void copy_out(const Place& place) {
    BlockMemory& memory = states_.at(place);
    std::vector<std::int32_t>& copied = on_host_[place];
    for (std::int32_t b = 0; b < std::ssize(blocks_.program(place.first).buffers); ++b)
      if (memory.class_of(b) == MemoryClass::activations) copied.push_back(b);
    for (const std::int32_t b : copied) memory.drop(b);
  }
  void copy_back(const Place& place) {
    for (const std::int32_t b : on_host_.at(place)) states_.at(place).hold(b, MemoryClass::activations);
    on_host_.erase(place);
  }
  static void bring_inputs(BlockMemory& memory, const BlockProgram& program) {
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
      memory.hold(program.inputs[i], program.keeps_input[i] ? MemoryClass::activations : MemoryClass::working_buffers);
    for (const std::int32_t constant : program.constants) memory.hold(constant, MemoryClass::activations);
  }
  static void bring_gradients(BlockMemory& memory, const BlockProgram& program, BlockPass pass) {
    for (const std::int32_t gradient : program.output_gradients_of(pass))
      if (gradient >= 0) memory.hold(gradient, MemoryClass::working_buffers);
  }
  [[nodiscard]] MemoryBreakdown with_others(const Place& own, const BlockMemory& memory) {
    MemoryBreakdown sum;
    for (const MemoryClass c : classes) sum[c] = memory.most(c);
    for (auto& [place, other] : states_) {
      if (place == own) continue;
      other.begin();
      for (const MemoryClass c : classes) sum[c] += other.most(c);
    }
    return sum;
  }

  const RankBlocks& blocks_;
  std::map<Place, BlockMemory> states_;
  std::map<Place, std::vector<std::int32_t>> on_host_;  ///< buffers that left
  bool replays_ = false;                                ///< before the next backward
};

/// Follows the buffers of a program that belong to single blocks.
class BlockBuffers {
 public:
  explicit BlockBuffers(const RankProgram& rank) : rank_(rank) {}

  MemoryBreakdown most_during(const Action& a) {
    MemoryBreakdown most = live_;
    for (std::int32_t u = a.first_use; u < a.first_use + a.uses; ++u) {
      const BufferUse& use = rank_.uses[static_cast<std::size_t>(u)];
      const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(use.buffer)];
      if (buffer.lifetime != Lifetime::step || buffer.segment < 0) continue;
      Bytes& live = live_[buffer.memory_class];
      if (use.access == Access::allocate) live += buffer.bytes;
      if (use.access == Access::release) live -= buffer.bytes;
      most[buffer.memory_class] = std::max(most[buffer.memory_class], live);
    }
    return most;
  }

 private:
  const RankProgram& rank_;
  MemoryBreakdown live_;
};

}  // namespace plumbline
