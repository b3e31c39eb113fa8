#include "runtime/execution/parameter_memory.h"

#include <algorithm>
#include <utility>

namespace plumbline {

ElementFormat element_format(NumberFormat format) {
  switch (format) {
    case NumberFormat::bf16: return ElementFormat::bf16;
    case NumberFormat::fp16: return ElementFormat::fp16;
    case NumberFormat::fp32:
    case NumberFormat::tf32: return ElementFormat::fp32;
    default: break;
  }
  throw InternalError("no rank sends " + std::string(to_text(format)));
}

ParameterMemory::ParameterMemory(ParameterLayout of_rank, const Strategy& of_run, const Training& of_weights,
                                 RankGroups& of_ranks, Backend& memory, ComputeDevice& of_lanes)
    : layout(std::move(of_rank)),
      strategy(of_run),
      training(of_weights),
      formats(of_weights.formats()),
      groups(of_ranks),
      backend(memory),
      device(of_lanes),
      weights_(zeros(MemoryClass::weights, storage(layout.weights, formats.weight))),
      gradients_(zeros(MemoryClass::gradients, storage(layout.gradients, formats.gradient))),
      masters_(formats.master ? zeros(MemoryClass::master_weights, storage(layout.states, *formats.master)) : nullptr),
      moments_(zeros(MemoryClass::optimizer_state, storage(layout.moments, formats.optimizer_state))) {}

BufferRef ParameterMemory::zeros(MemoryClass memory_class, Bytes bytes) const {
  if (bytes.value() == 0) return nullptr;
  BufferRef held = backend.bind(memory_class, bytes);
  device.fill(Stream::compute, held->data(), std::byte{0}, bytes);
  return held;
}

Communicator& ParameterMemory::shard_group(const Section& section) const {
  return section.is_expert ? groups.expert_shard() : groups[Axis::shard];
}
Communicator& ParameterMemory::replicate_group(const Section& section) const {
  return section.is_expert ? groups.expert_replicate() : groups[Axis::replicate];
}

Communicator& ParameterMemory::secondary_group(const Section& section) const {
  return section.is_expert ? *groups.expert_secondary() : groups[Axis::secondary_shard];
}

bool ParameterMemory::answers_for(const LocalParameter& p) const {
  return plumbline::answers_for(strategy, p, groups.rank());
}

std::byte* ParameterMemory::weights(const Section& section, std::int64_t first) const {
  return at(weights_, section.weights + first, formats.weight);
}

std::byte* ParameterMemory::held_weights(const LocalParameter& p, std::int64_t first) const {
  const Section& section = section_of(p);
  return weights(section, p.first + first - (strategy.zero_stage >= 3 ? section.part_begin() : 0));
}

std::byte* ParameterMemory::gradients(const Section& section) const {
  return at(gradients_, section.gradients, formats.gradient);
}

std::span<std::byte> ParameterMemory::weight_part(const Section& section) const {
  return {weights(section, strategy.zero_stage >= 3 ? 0 : section.part_begin()),
          static_cast<std::size_t>(bytes_of(section.part(), formats.weight))};
}

std::span<std::byte> ParameterMemory::gradient_part(const Section& section) const {
  const std::int64_t first = strategy.zero_stage >= 2 ? 0 : section.part_begin();
  return {gradients(section) + bytes_of(first, formats.gradient),
          static_cast<std::size_t>(bytes_of(section.part(), formats.gradient))};
}

void ParameterMemory::zero_gradients() {
  if (gradients_) device.fill(Stream::compute, gradients_->data(), std::byte{0}, gradients_->bytes());
}

TensorView ParameterMemory::owned_weight(const OwnedRange& owned) const {
  const LocalParameter& p = parameter(owned.parameter);
  const Section& section = section_of(p);
  const std::int64_t place = p.first + owned.first - section.part_begin();
  return row(weight_part(section).data() + bytes_of(place, formats.weight), formats.weight, owned.count);
}

TensorView ParameterMemory::owned_gradient(const OwnedRange& owned) const {
  const LocalParameter& p = parameter(owned.parameter);
  const Section& section = section_of(p);
  const std::int64_t place = p.first + owned.first - section.part_begin();
  return row(gradient_part(section).data() + bytes_of(place, formats.gradient), formats.gradient, owned.count);
}

TensorView ParameterMemory::owned_master(const OwnedRange& owned) const {
  if (!masters_) return owned_weight(owned);
  return row(at(masters_, owned.states, *formats.master), *formats.master, owned.count);
}

TensorView ParameterMemory::moment(const OwnedRange& owned, std::size_t state) const {
  return row(at(moments_, owned.moments[state], formats.optimizer_state), formats.optimizer_state, owned.count);
}

static_assert(moment_block == state_block, "kernels' blocks are those that are predicted");

CodedMoment ParameterMemory::coded_moment(const OwnedRange& owned, std::size_t state) const {
  return plumbline::coded_moment(reinterpret_cast<float*>(at(moments_, owned.moments[state], formats.optimizer_state)),
                                 owned.count);
}

TensorView ParameterMemory::squares(const LocalParameter& p, StatePart part) const {
  const std::int64_t count = box_of(p, part).elements();
  if (count == 0) return {};
  const std::int64_t first = p.squares + (part == StatePart::row_squares ? 0 : p.row_squares().elements());
  return row(at(moments_, first, formats.optimizer_state), formats.optimizer_state, count);
}

StateData ParameterMemory::state(const StateRange& range) const {
  const auto data = [&](std::byte* first, NumberFormat format) {
    return StateData{format, {first, static_cast<std::size_t>(bytes_of(range.elements.count, format))}};
  };
  if (range.part == StatePart::weight)
    return data(held_weights(parameter(range.parameter), range.elements.first), formats.weight);
  if (range.part == StatePart::row_squares || range.part == StatePart::column_squares)
    return data(static_cast<std::byte*>(squares(parameter(range.parameter), range.part)
                                            .columns_from(range.elements.first, range.elements.count)
                                            .data),
                formats.optimizer_state);
  const auto owned = std::find_if(layout.owned.begin(), layout.owned.end(),
                                  [&](const OwnedRange& each) { return each.parameter == range.parameter; });
  check(owned != layout.owned.end(), "a rank keeps the optimizer's state of what it owns");
  const std::int64_t first = range.elements.first - owned->first;
  if (range.part == StatePart::master)
    return data(at(masters_, owned->states + first, *formats.master), *formats.master);
  const std::size_t moment = range.part == StatePart::first_moment ? 0 : 1;
  return data(at(moments_, owned->moments[moment] + first, formats.optimizer_state), formats.optimizer_state);
}

}  // namespace plumbline
