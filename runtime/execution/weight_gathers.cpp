#include "runtime/execution/weight_gathers.h"

namespace plumbline {

WeightGathers::WeightGathers(ParameterMemory& memory)
    : memory_(memory),
      slots_(memory, &UnitElements::whole, memory.formats.weight, memory.layout.whole_units),
      is_stale_(memory.layout.units.size()) {}

ConstTensorView WeightGathers::weight(std::int32_t execution, TensorId tensor) const {
  const std::int32_t index = memory_.layout.find(execution, tensor);
  check(index >= 0, "an op's parameter is held by its rank");
  const LocalParameter& p = memory_.parameter(index);
  const Section& section = memory_.section_of(p);
  const NumberFormat format = memory_.formats.weight;
  check(!is_stale_[static_cast<std::size_t>(section.execution)], "updated weights are gathered before they are used");
  const std::byte* data = memory_.strategy.zero_stage >= 3
                              ? slots_.data(section.execution) + bytes_of(section.unit_first + p.first, format)
                              : memory_.weights(section, p.first);
  return dense_view(static_cast<const void*>(data), format, p.rows(), p.columns());
}

void WeightGathers::gather(std::int32_t execution, UnitSlot slot, Axis over) {
  is_stale_[static_cast<std::size_t>(execution)] = false;
  if (memory_.strategy.zero_stage >= 3) {
    const ParameterLayout& layout = memory_.layout;
    slots_.bind(Stream::data);
    const bool reads_staying = execution == layout.staying_unit || execution == layout.staying_for;
    if (reads_staying && slots_.put_staying()) gather_sections(layout.staying_unit, over);
    if (execution == layout.staying_unit) return;
    slots_.put(execution, slot, Stream::data);
  }
  gather_sections(execution, over);
}

void WeightGathers::gather_sections(std::int32_t execution, Axis over) {
  const bool whole = memory_.strategy.zero_stage >= 3;
  const NumberFormat number = memory_.formats.weight;
  memory_.for_sections(execution, [&](const Section& section) {
    if (!whole && !section.is_trained) return;
    std::byte* data = whole ? slots_.data(execution) + bytes_of(section.unit_first, number) : memory_.weights(section);
    const std::span<std::byte> all(data, static_cast<std::size_t>(bytes_of(section.padded, number)));
    const bool is_secondary = over == Axis::secondary_shard && section.has_secondary();
    const std::span<std::byte> own = is_secondary ? secondary_part(section) : memory_.weight_part(section);
    Communicator& group = is_secondary ? memory_.secondary_group(section) : memory_.shard_group(section);
    if (section.ranks > 1)
      memory_.device.enqueue(
          Stream::data, [&group, own, all, format = element_format(number)] { group.all_gather(own, all, format); });
    else if (whole)
      memory_.device.copy(Stream::data, all.data(), own.data(), Bytes(std::ssize(own)));
  });
  if (whole) slots_.mark_busy(execution);
}

void WeightGathers::release() { slots_.release(); }

std::span<std::byte> WeightGathers::secondary_part(const Section& section) const {
  check(secondary_ != nullptr, "shards for a backward are kept by its forward");
  const NumberFormat number = memory_.formats.weight;
  return {secondary_->data() + bytes_of(section.secondary, number),
          static_cast<std::size_t>(bytes_of(section.secondary_part(), number))};
}

/// What is there for another micro-batch is the same: weights change between steps.
void WeightGathers::keep_secondary(std::int32_t execution) {
  const ParameterLayout& layout = memory_.layout;
  if (layout.secondary == 0) return;
  const NumberFormat number = memory_.formats.weight;
  if (waiting_for_backward_++ == 0)
    secondary_ = memory_.backend.bind(MemoryClass::gathered_parameters, storage(layout.secondary, number));
  if (layout.unit_of[static_cast<std::size_t>(execution)] != execution) return;
  memory_.for_sections(execution, [&](const Section& section) {
    if (!section.has_secondary()) return;
    const std::span<std::byte> part = secondary_part(section);
    const std::int64_t first = section.unit_first + section.secondary_rank * section.secondary_part();
    memory_.device.copy(Stream::compute, part.data(), slots_.data(execution) + bytes_of(first, number),
                        Bytes(std::ssize(part)));
  });
}

void WeightGathers::drop_secondary() {
  if (memory_.layout.secondary > 0 && --waiting_for_backward_ == 0) secondary_ = nullptr;
}

void WeightGathers::mark_updated() {
  if (memory_.strategy.zero_stage == 0 || memory_.strategy.zero_stage >= 3) return;
  for (const Section& section : memory_.layout.sections)
    if (section.is_trained && section.ranks > 1) is_stale_[static_cast<std::size_t>(section.execution)] = true;
}

}  // namespace plumbline
