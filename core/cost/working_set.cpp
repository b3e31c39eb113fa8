#include "core/cost/working_set.h"

#include "core/cost/block_memory.h"

namespace plumbline {
namespace {

constexpr MemoryClass working = MemoryClass::working_buffers;
constexpr MemoryClass activations = MemoryClass::activations;

/// With the recompute before it. Runs on from `memory`.
Bytes most_of_backward(const BlockProgram& program, BlockMemory& memory, BlockPass pass) {
  for (const std::int32_t gradient : program.output_gradients_of(pass))
    if (gradient >= 0) memory.hold(gradient, working);
  memory.begin();
  memory.run(BlockPass::recompute);
  memory.run(pass);
  return memory.most(working);
}

/// `after_forward`: what the forward left.
void add_split(MemoryProfile& profile, const BlockProgram& program, const BlockMemory& after_forward) {
  BlockMemory memory = after_forward;
  profile.working.backward_input = most_of_backward(program, memory, BlockPass::backward_input);
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
  if (form == BackwardForm::split) add_split(profile, program, memory);
  profile.working.backward = most_of_backward(program, memory, BlockPass::backward);
  return profile;
}

}  // namespace plumbline
