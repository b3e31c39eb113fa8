#include "core/cost/working_set.h"

#include "core/cost/block_memory.h"

namespace plumbline {
namespace {

constexpr MemoryClass working = MemoryClass::working_buffers;
constexpr MemoryClass activations = MemoryClass::activations;

void replay(const BlockProgram& program, BlockMemory& memory) {
  for (const std::int32_t input : program.replay_inputs) memory.hold(input, working);
  memory.begin();
  memory.run(BlockPass::recompute);
}

/// With the recompute before it, where that is its neighbour. Runs on from `memory`.
Bytes most_of_backward(const BlockProgram& program, BlockMemory& memory, BlockPass pass) {
  for (const std::int32_t gradient : program.output_gradients_of(pass))
    if (gradient >= 0) memory.hold(gradient, working);
  memory.begin();
  if (program.replay_outputs.empty()) replay(program, memory);
  memory.run(pass);
  return memory.most(working);
}

/// A block that hands its replay on: before its backward other blocks are replayed, and run backward.
void add_replay(MemoryProfile& profile, const BlockProgram& program, BlockMemory& memory) {
  if (program.replay_outputs.empty()) return;
  replay(program, memory);
  profile.working.replay = memory.most(working);
  for (std::size_t i = 0; i < program.replay_outputs.size(); ++i)
    if (!program.restores_output[i]) memory.drop(program.replay_outputs[i]);
  profile.replayed_ahead = memory.live(working);
  // The gradient that the last of the row waits with is as large as its own.
  for (const std::int32_t gradient : program.output_gradients_of(BlockPass::backward))
    if (gradient >= 0) profile.working.replay += program.buffers[static_cast<std::size_t>(gradient)].bytes;
  profile.working.replay -= profile.replayed_ahead;
}

/// `after_forward`: what the forward left.
void add_split(MemoryProfile& profile, const BlockProgram& program, const BlockMemory& after_forward) {
  BlockMemory memory = after_forward;
  profile.working.backward_input =
      most_of_backward(program, memory, BlockPass::backward_input) - profile.replayed_ahead;
  memory.run(BlockPass::keep_for_weights);
  for (std::int32_t b = 0; b < std::ssize(program.buffers); ++b) {
    const auto held = memory.class_of(b);
    if (held == MemoryClass::logits_and_loss) profile.late_logits = profile.logits;
    if (held != activations) continue;
    const Bytes bytes = program.buffers[static_cast<std::size_t>(b)].bytes;
    (after_forward.class_of(b) == activations ? profile.kept_for_weight : profile.deferred) += bytes;
  }
  memory.begin();
  memory.run(BlockPass::weight);
  profile.working.weight = memory.most(working);
}

}  // namespace

MemoryProfile memory_profile(const BlockProgram& program, BackwardForm form, Bytes saved, Bytes logits) {
  MemoryProfile profile;
  profile.saved = saved;
  profile.logits = logits;
  BlockMemory memory(program);
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    memory.hold(program.inputs[i], program.keeps_input[i] ? activations : working);
  for (const std::int32_t constant : program.constants) memory.hold(constant, activations);
  memory.run(BlockPass::forward);
  profile.working.forward = memory.most(working);
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    if (!program.keeps_output[i]) memory.drop(program.outputs[i]);
  add_replay(profile, program, memory);
  if (form == BackwardForm::split) add_split(profile, program, memory);
  profile.working.backward = most_of_backward(program, memory, BlockPass::backward) - profile.replayed_ahead;
  return profile;
}

}  // namespace plumbline
