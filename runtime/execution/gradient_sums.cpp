#include "runtime/execution/gradient_sums.h"

#include <algorithm>

#include "runtime/device/device_kernels.h"

namespace plumbline {

GradientSums::GradientSums(ParameterMemory& memory)
    : memory_(memory),
      slots_(memory, &UnitElements::trained, memory.formats.gradient, memory.layout.whole_units_trained),
      of_chunks_(memory) {}

std::span<std::byte> GradientSums::whole(const Section& section) const {
  const NumberFormat format = memory_.formats.gradient;
  const auto of_unit = [&] {
    return of_chunks_.hold(section.execution) ? of_chunks_.data(section.execution) : slots_.data(section.execution);
  };
  std::byte* data = memory_.strategy.zero_stage >= 2 ? of_unit() + bytes_of(section.unit_trained, format)
                                                     : memory_.gradients(section);
  return {data, static_cast<std::size_t>(bytes_of(section.padded, format))};
}

TensorView GradientSums::gradient(std::int32_t execution, TensorId tensor) {
  const std::int32_t index = layout().find(execution, tensor);
  check(index >= 0, "an op's parameter is held by its rank");
  const LocalParameter& p = memory_.parameter(index);
  if (!p.is_trained) return {};
  const NumberFormat format = memory_.formats.gradient;
  std::byte* data = whole(memory_.section_of(p)).data() + bytes_of(p.first, format);
  return dense_view(static_cast<void*>(data), format, p.rows(), p.columns());
}

void GradientSums::open(std::int32_t execution, UnitSlot slot) {
  if (memory_.strategy.zero_stage < 2 || layout().whole_units_trained == 0) return;
  const std::int32_t staying = layout().staying_unit;
  if ((execution == staying || execution == layout().staying_for) && slots_.put_staying()) {
    slots_.bind(Stream::compute);
    memory_.device.wait(Stream::compute, slots_.staying_busy());
    open_zeros(staying);
  }
  if (execution == staying || slots_.holds(execution, slot)) return;
  slots_.bind(Stream::compute);
  slots_.put(execution, slot, Stream::compute);
  open_zeros(execution);
}

void GradientSums::open_zeros(std::int32_t execution) {
  const std::int64_t elements = layout().units[static_cast<std::size_t>(execution)].trained;
  memory_.device.fill(Stream::compute, slots_.data(execution), std::byte{0},
                      storage(elements, memory_.formats.gradient));
}

void GradientSums::scatter(std::int32_t execution) {
  const NumberFormat format = memory_.formats.gradient;
  memory_.for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    const std::span<std::byte> all = whole(section);
    const std::span<std::byte> own = all.subspan(static_cast<std::size_t>(bytes_of(section.part_begin(), format)),
                                                 static_cast<std::size_t>(bytes_of(section.part(), format)));
    const TensorView sum = row(memory_.gradient_part(section).data(), format, section.part());
    const TensorView part = row(own.data(), format, section.part());
    Communicator* const group = section.ranks > 1 ? &memory_.shard_group(section) : nullptr;
    memory_.device.enqueue(
        Stream::data, [=, add = memory_.device.kernels().add, reduced = element_format(memory_.formats.reduction)] {
          if (group != nullptr) group->reduce_scatter(all, own, reduced, Reduction::sum);
          add({sum, part, sum});
        });
  });
  if (of_chunks_.hold(execution)) return;
  slots_.mark_busy(execution);
  if (execution == layout().staying_unit) slots_.drop_staying();
}

void GradientSums::sum_over(Communicator& group, std::span<std::byte> gradients) {
  if (group.rank_set().size() == 1) return;
  memory_.device.enqueue(Stream::data, [&group, gradients, format = element_format(memory_.formats.reduction)] {
    group.all_reduce(gradients, format, Reduction::sum);
  });
}

void GradientSums::reduce(std::int32_t execution) {
  memory_.for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    if (memory_.strategy.zero_stage == 0)
      return sum_over(memory_.groups[section.is_expert ? Axis::expert_gradient : Axis::gradient], whole(section));
    const std::span<std::byte> own = memory_.gradient_part(section);
    if (memory_.strategy.zero_stage == 1 && section.ranks > 1)
      memory_.device.enqueue(Stream::data, [&group = memory_.shard_group(section), all = whole(section), own,
                                            format = element_format(memory_.formats.reduction)] {
        group.reduce_scatter(all, own, format, Reduction::sum);
      });
    sum_over(memory_.replicate_group(section), own);
  });
}

bool GradientSums::is_reduced(std::int32_t execution) const {
  bool is_reduced = false;
  memory_.for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    const std::int32_t all = memory_.groups.size(section.is_expert ? Axis::expert_gradient : Axis::gradient);
    const std::int32_t summed = memory_.strategy.zero_stage >= 2 ? all / section.ranks : all;
    is_reduced = is_reduced || summed > 1;
  });
  return is_reduced;
}

bool GradientSums::has_partial() const {
  return std::any_of(layout().parameters.begin(), layout().parameters.end(),
                     [](const LocalParameter& p) { return p.is_partial && p.is_trained; });
}

void GradientSums::reduce_tied() {
  check(memory_.groups.ends() != nullptr && has_tied_copy(), "a tied embedding is trained at both ends of a pipeline");
  const LocalParameter& p = layout().parameters[static_cast<std::size_t>(layout().tied_embedding)];
  const Section& section = memory_.section_of(p);
  // Under ZeRO-1 only the rank's part of either copy is a sum that counts.
  const std::span<std::byte> all =
      memory_.strategy.zero_stage >= 2
          ? memory_.gradient_part(section)
          : whole(section).first(static_cast<std::size_t>(bytes_of(p.elements(), memory_.formats.gradient)));
  memory_.device.enqueue(Stream::data,
                         [&group = *memory_.groups.ends(), all, format = element_format(memory_.formats.reduction)] {
                           group.all_reduce(all, format, Reduction::sum);
                         });
}

template <class Copy>
void GradientSums::for_partial(std::byte* packed, Copy copy) const {
  const NumberFormat format = memory_.formats.gradient;
  std::int64_t first = 0;
  for (const LocalParameter& p : layout().parameters) {
    if (!p.is_partial || !p.is_trained) continue;
    const Section& section = memory_.section_of(p);
    const bool is_part = memory_.strategy.zero_stage >= 1;
    const ElementRange held = is_part ? own_part(p, section) : ElementRange{0, p.elements()};
    std::byte* const gradients = is_part
                                     ? memory_.gradient_part(section).data() - bytes_of(section.part_begin(), format)
                                     : whole(section).data();
    if (held.count > 0)
      copy(packed + bytes_of(first + held.first, format), gradients + bytes_of(p.first + held.first, format),
           storage(held.count, format));
    first += p.elements();
  }
}

void GradientSums::reduce_partial() {
  ComputeDevice& device = memory_.device;
  device.wait(Stream::compute, device.mark(Stream::data));  // their sums over data-parallel ranks
  std::int64_t elements = 0;
  for (const LocalParameter& p : layout().parameters)
    if (p.is_partial && p.is_trained) elements += p.elements();
  const std::int64_t ranks = memory_.groups.size(Axis::tensor);
  const BufferRef packed = memory_.backend.bind(MemoryClass::working_buffers,
                                                storage(divided(elements, ranks) * ranks, memory_.formats.gradient));
  device.fill(Stream::compute, packed->data(), std::byte{0}, packed->bytes());
  for_partial(packed->data(), [&](std::byte* place, const std::byte* held, Bytes size) {
    device.copy(Stream::compute, place, held, size);
  });
  device.enqueue(Stream::compute, [all = span_of(packed), &group = memory_.groups[Axis::tensor],
                                   format = element_format(memory_.formats.reduction)] {
    group.all_reduce(all, format, Reduction::sum);
  });
  for_partial(packed->data(), [&](const std::byte* place, std::byte* held, Bytes size) {
    device.copy(Stream::compute, held, place, size);
  });
}

}  // namespace plumbline
