#include "core/program/buffer_slots.h"

namespace plumbline::passes {
namespace {

std::int32_t add(RankProgram& rank, const Buffer& buffer, std::int32_t copies = 1) {
  if (buffer.bytes.value() == 0) return no_buffer;
  const auto first = static_cast<std::int32_t>(rank.buffers.size());
  for (std::int32_t copy = 0; copy < copies; ++copy) {
    rank.buffers.push_back(buffer);
    if (copies > 1) rank.buffers.back().micro_batch = copy;
  }
  return first;
}

void add_states(const RankSizes& sizes, RankProgram& rank, RankSlots& slots) {
  for (const StateBytes& state : sizes.persistent) {
    const std::int32_t made = add(rank, {state.memory_class, Lifetime::persistent, -1, -1, -1, state.bytes});
    if (state.memory_class == MemoryClass::weights) slots.weights = made;
    if (state.memory_class == MemoryClass::gradients) slots.gradients = made;
    if (state.memory_class == MemoryClass::optimizer_state) slots.optimizer_state = made;
  }
  for (const StateBytes& state : sizes.late)
    if (const std::int32_t made = add(rank, {state.memory_class, Lifetime::step, -1, -1, -1, state.bytes});
        made != no_buffer)
      slots.late.push_back(made);
}

SegmentSlots segment_slots(const SegmentSizes& sizes, std::int32_t micro_batches, Buffer owner, RankProgram& rank) {
  const auto slot = [&](MemoryClass memory_class, Bytes bytes, std::int32_t copies) {
    owner.memory_class = memory_class;
    owner.bytes = bytes;
    return add(rank, owner, copies);
  };
  const MemoryProfile& memory = sizes.memory;
  return {slot(MemoryClass::activations, memory.dropped() - sizes.offloaded, micro_batches),
          slot(MemoryClass::activations, memory.kept_for_weight - sizes.offloaded_for_weight, micro_batches),
          slot(MemoryClass::activations, memory.deferred, micro_batches),
          slot(MemoryClass::activations, sizes.offloaded, micro_batches),
          slot(MemoryClass::activations, sizes.offloaded_for_weight, micro_batches),
          slot(MemoryClass::logits_and_loss, memory.logits, micro_batches),
          slot(MemoryClass::working_buffers, memory.working.forward, 1),
          slot(MemoryClass::working_buffers, memory.replayed_ahead, 1),
          slot(MemoryClass::working_buffers, memory.working.replay, 1),
          slot(MemoryClass::working_buffers, memory.working.backward, 1),
          slot(MemoryClass::working_buffers, memory.working.backward_input, 1),
          slot(MemoryClass::working_buffers, memory.working.weight, 1)};
}

}  // namespace

RankSlots make_slots(const RankContext& context, RankProgram& rank) {
  const RankSizes& sizes = context.sizes();
  RankSlots slots;
  add_states(sizes, rank, slots);
  const auto received = [&](Bytes bytes) {
    return add(rank, {MemoryClass::communication_buffers, Lifetime::persistent, -1, -1, -1, bytes});
  };
  slots.received_activation = received(sizes.received);
  slots.received_gradient = received(sizes.received_gradient);
  const auto gathered = [&](Bytes bytes) {
    return add(rank, {MemoryClass::gathered_parameters, Lifetime::step, -1, -1, -1, bytes});
  };
  slots.gathered_parameters = gathered(sizes.gathered_parameters);
  slots.gathered_gradients = gathered(sizes.gathered_gradients);
  slots.secondary_shards = gathered(sizes.secondary_shards);
  slots.gathered_matrices =
      add(rank, {MemoryClass::gathered_parameters, Lifetime::step, -1, -1, -1, sizes.matrices.buffer});
  slots.packed_partial = add(rank, {MemoryClass::working_buffers, Lifetime::step, -1, -1, -1, sizes.packed_partial});
  slots.fetched_states = add(rank, {MemoryClass::optimizer_state, Lifetime::step, -1, -1, -1, sizes.offloaded_states});
  for (std::int32_t c = 0; c < std::ssize(sizes.chunks); ++c) {
    slots.segments.emplace_back();
    const ChunkSizes& chunk = sizes.chunks[static_cast<std::size_t>(c)];
    const auto transferred = [&](Bytes bytes) {
      const Buffer buffer{MemoryClass::activations, Lifetime::step, c, -1, -1, bytes};
      return add(rank, buffer, context.input.schedule.shape.micro_batches);
    };
    slots.whole_gradients.push_back(
        add(rank, {MemoryClass::gathered_parameters, Lifetime::step, c, -1, -1, chunk.whole_gradients}));
    slots.transferred_activation.push_back(transferred(chunk.transferred));
    slots.transferred_gradient.push_back(transferred(chunk.transferred_gradient));
    for (const SegmentSizes& segment : chunk.segments) {
      const auto index = static_cast<std::int32_t>(slots.segments.back().size());
      const Buffer owner{MemoryClass::activations, Lifetime::step, c, -1, index, Bytes(0)};
      slots.segments.back().push_back(segment_slots(segment, context.input.schedule.shape.micro_batches, owner, rank));
    }
  }
  return slots;
}

}  // namespace plumbline::passes
