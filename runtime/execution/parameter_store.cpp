#include "runtime/execution/parameter_store.h"

#include <algorithm>
#include <utility>

#include "runtime/device/device_kernels.h"
#include "runtime/execution/element_views.h"

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

ParameterStore::ParameterStore(ParameterLayout layout, const Strategy& strategy, const Training& training,
                               RankGroups& groups, Backend& backend, ComputeDevice& device)
    : layout_(std::move(layout)),
      strategy_(strategy),
      training_(training),
      formats_(training.formats()),
      optimizer_(training.optimizer),
      groups_(groups),
      backend_(backend),
      device_(device) {
  weights_ = persistent(MemoryClass::weights, storage(layout_.weights, formats_.weight));
  gradients_ = persistent(MemoryClass::gradients, storage(layout_.gradients, formats_.gradient));
  if (formats_.master) masters_ = persistent(MemoryClass::master_weights, storage(layout_.states, *formats_.master));
  moments_ = persistent(MemoryClass::optimizer_state, storage(layout_.moments, formats_.optimizer_state));
  is_stale_.resize(layout_.units.size());
}

BufferRef ParameterStore::persistent(MemoryClass memory_class, Bytes bytes) const {
  if (bytes.value() == 0) return nullptr;
  BufferRef held = backend_.bind(memory_class, bytes);
  device_.fill(Stream::compute, held->data(), std::byte{0}, bytes);
  return held;
}

/// Into `to`, one row: elements of the parameter's box from `begin` on.
void ParameterStore::put_first_weights(const FirstWeights& first, const LocalParameter& p, std::int64_t begin,
                                       const TensorView& to) const {
  for (std::int64_t done = 0; done < to.columns; done += most_host_elements) {
    const std::int64_t count = std::min(most_host_elements, to.columns - done);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::int64_t e = 0; e < count; ++e)
      values[static_cast<std::size_t>(e)] = first(p, p.box.whole_index(begin + done + e));
    const Workspace room = backend_.workspace(storage(count, NumberFormat::fp32));
    device_.upload(Stream::compute, room.data, values.data(), room.size);
    device_.kernels().cast(
        {dense_view(static_cast<const void*>(room.data), NumberFormat::fp32, 1, count), to.columns_from(done, count)});
  }
}

void ParameterStore::initialise(const FirstWeights& first) {
  for (const LocalParameter& p : layout_.parameters) {
    const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
    const std::int64_t held_begin = strategy_.zero_stage >= 3 ? section.part_begin() : 0;
    const std::int64_t held = strategy_.zero_stage >= 3 ? section.part() : section.padded;
    const std::int64_t begin = std::max(p.first, held_begin) - p.first;
    const std::int64_t end = std::min(p.first + p.elements(), held_begin + held) - p.first;
    if (begin >= end) continue;
    put_first_weights(first, p, begin,
                      row(at(weights_, section.weights + p.first + begin - held_begin, formats_.weight),
                          formats_.weight, end - begin));
  }
  if (!masters_) return;
  for (const OwnedRange& owned : layout_.owned) {
    put_first_weights(first, layout_.parameters[static_cast<std::size_t>(owned.parameter)], owned.first,
                      row(at(masters_, owned.states, *formats_.master), *formats_.master, owned.count));
  }
}

std::int32_t ParameterStore::Slots::find(std::int32_t unit) const {
  if (execution[0] == unit) return 0;
  return execution[1] == unit ? 1 : -1;
}

std::byte* ParameterStore::unit_slot(const Slots& slots, std::int32_t execution, std::int64_t UnitElements::*size,
                                     NumberFormat format) const {
  const auto bytes_of_unit = [&](std::int32_t unit) {
    return unit < 0 ? 0 : bytes_of(layout_.units[static_cast<std::size_t>(unit)].*size, format);
  };
  const bool stays = execution == layout_.staying_unit;
  const std::int32_t slot = slots.find(execution);
  check(slots.memory && (stays ? slots.holds_staying : slot >= 0), "a unit is gathered before it is used");
  const std::int64_t room = slots.memory->bytes().value() - bytes_of_unit(layout_.staying_unit);
  if (stays) return slots.memory->data() + room;
  // Neighbours are at either end.
  return slots.memory->data() + (slot == 0 ? 0 : room - bytes_of_unit(execution));
}

ConstTensorView ParameterStore::weight(std::int32_t execution, TensorId tensor) const {
  const std::int32_t index = layout_.find(execution, tensor);
  check(index >= 0, "an op's parameter is held by its rank");
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(index)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  check(!is_stale_[static_cast<std::size_t>(section.execution)], "updated weights are gathered before they are used");
  const std::byte* data = strategy_.zero_stage >= 3
                              ? unit_slot(gathered_, section.execution, &UnitElements::whole, formats_.weight) +
                                    bytes_of(section.unit_first + p.first, formats_.weight)
                              : at(weights_, section.weights + p.first, formats_.weight);
  return dense_view(static_cast<const void*>(data), formats_.weight, p.rows(), p.columns());
}

std::span<std::byte> ParameterStore::whole_gradient(const Section& section) const {
  std::byte* data = strategy_.zero_stage >= 2
                        ? unit_slot(made_, section.execution, &UnitElements::trained, formats_.gradient) +
                              bytes_of(section.unit_trained, formats_.gradient)
                        : at(gradients_, section.gradients, formats_.gradient);
  return {data, static_cast<std::size_t>(bytes_of(section.padded, formats_.gradient))};
}

TensorView ParameterStore::gradient(std::int32_t execution, TensorId tensor) {
  const std::int32_t index = layout_.find(execution, tensor);
  check(index >= 0, "an op's parameter is held by its rank");
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(index)];
  if (!p.is_trained) return {};
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  std::byte* data = whole_gradient(section).data() + bytes_of(p.first, formats_.gradient);
  return dense_view(static_cast<void*>(data), formats_.gradient, p.rows(), p.columns());
}

void ParameterStore::begin_step() {
  if (gradients_) device_.fill(Stream::compute, gradients_->data(), std::byte{0}, gradients_->bytes());
}

template <class Do>
void ParameterStore::for_sections(std::int32_t execution, Do act) const {
  for (const Section& section : layout_.sections)
    if (section.execution == execution) act(section);
}

Communicator& ParameterStore::shard_group(const Section& section) const {
  return section.is_expert ? groups_.expert_shard() : groups_[Axis::shard];
}
Communicator& ParameterStore::replicate_group(const Section& section) const {
  return section.is_expert ? groups_.expert_replicate() : groups_[Axis::replicate];
}

std::span<std::byte> ParameterStore::weight_part(const Section& section) const {
  const std::int64_t first = strategy_.zero_stage >= 3 ? section.weights : section.weights + section.part_begin();
  return {at(weights_, first, formats_.weight), static_cast<std::size_t>(bytes_of(section.part(), formats_.weight))};
}

std::span<std::byte> ParameterStore::gradient_part(const Section& section) const {
  const std::int64_t first = strategy_.zero_stage >= 2 ? section.gradients : section.gradients + section.part_begin();
  return {at(gradients_, first, formats_.gradient),
          static_cast<std::size_t>(bytes_of(section.part(), formats_.gradient))};
}

void ParameterStore::gather(std::int32_t execution) {
  is_stale_[static_cast<std::size_t>(execution)] = false;
  if (strategy_.zero_stage >= 3) {
    if (!gathered_.memory)
      gathered_.memory = backend_.bind(MemoryClass::gathered_parameters, storage(layout_.two_units, formats_.weight),
                                       SizeFrom::program, Stream::data);
    if (execution == layout_.staying_unit || execution == layout_.staying_for) gather_staying();
    if (execution == layout_.staying_unit) return;
    gathered_.execution[static_cast<std::size_t>(gathered_.next)] = execution;
    gathered_.next = 1 - gathered_.next;
  }
  gather_sections(execution);
}

void ParameterStore::gather_staying() {
  if (std::exchange(gathered_.holds_staying, true)) return;
  gather_sections(layout_.staying_unit);
}

void ParameterStore::gather_sections(std::int32_t execution) {
  const bool whole = strategy_.zero_stage >= 3;
  const ElementFormat format = element_format(formats_.weight);
  for_sections(execution, [&](const Section& section) {
    if (!whole && !section.is_trained) return;
    std::byte* data = whole ? unit_slot(gathered_, execution, &UnitElements::whole, formats_.weight) +
                                  bytes_of(section.unit_first, formats_.weight)
                            : at(weights_, section.weights, formats_.weight);
    const std::span<std::byte> all(data, static_cast<std::size_t>(bytes_of(section.padded, formats_.weight)));
    const std::span<std::byte> own = weight_part(section);
    if (section.ranks > 1)
      enqueue([&group = shard_group(section), own, all, format] { group.all_gather(own, all, format); });
    else if (whole)
      device_.copy(Stream::data, all.data(), own.data(), Bytes(std::ssize(own)));
  });
  if (whole) gathered_.busy_with(execution) = device_.mark(Stream::data);
}

void ParameterStore::release(Slots& slots) {
  for (const Mark& mark : slots.busy) device_.wait(Stream::compute, mark);
  slots = {};
}

void ParameterStore::release_gathered() { release(gathered_); }

void ParameterStore::open_gradients(std::int32_t execution) {
  if (strategy_.zero_stage < 2 || layout_.two_units_trained == 0) return;
  if (execution == layout_.staying_unit || execution == layout_.staying_for) open_staying_gradients();
  if (execution == layout_.staying_unit || made_.find(execution) >= 0) return;
  bind_gradient_slots();
  const auto slot = static_cast<std::size_t>(made_.next);
  device_.wait(Stream::compute, made_.busy[slot]);
  made_.execution[slot] = execution;
  const std::int64_t elements = layout_.units[static_cast<std::size_t>(execution)].trained;
  device_.fill(Stream::compute, unit_slot(made_, execution, &UnitElements::trained, formats_.gradient), std::byte{0},
               storage(elements, formats_.gradient));
  made_.next = 1 - made_.next;
}

void ParameterStore::bind_gradient_slots() {
  if (!made_.memory)
    made_.memory =
        backend_.bind(MemoryClass::gathered_parameters, storage(layout_.two_units_trained, formats_.gradient));
}

void ParameterStore::open_staying_gradients() {
  if (std::exchange(made_.holds_staying, true)) return;
  bind_gradient_slots();
  device_.wait(Stream::compute, made_.busy.back());
  const std::int64_t elements = layout_.units[static_cast<std::size_t>(layout_.staying_unit)].trained;
  device_.fill(Stream::compute, unit_slot(made_, layout_.staying_unit, &UnitElements::trained, formats_.gradient),
               std::byte{0}, storage(elements, formats_.gradient));
}

void ParameterStore::release_gradients() { release(made_); }

void ParameterStore::scatter(std::int32_t execution) {
  for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    const std::span<std::byte> whole = whole_gradient(section);
    const std::span<std::byte> own =
        whole.subspan(static_cast<std::size_t>(bytes_of(section.part_begin(), formats_.gradient)),
                      static_cast<std::size_t>(bytes_of(section.part(), formats_.gradient)));
    const TensorView sum = row(gradient_part(section).data(), formats_.gradient, section.part());
    const TensorView part = row(own.data(), formats_.gradient, section.part());
    Communicator* const group = section.ranks > 1 ? &shard_group(section) : nullptr;
    enqueue([=, add = device_.kernels().add, format = element_format(formats_.reduction)] {
      if (group != nullptr) group->reduce_scatter(whole, own, format, Reduction::sum);
      add({sum, part, sum});
    });
  });
  made_.busy_with(execution) = device_.mark(Stream::data);
  if (execution == layout_.staying_unit) made_.holds_staying = false;
}

void ParameterStore::reduce(std::int32_t execution) {
  for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    const ElementFormat format = element_format(formats_.reduction);
    const auto sum_over = [&](Communicator& group, std::span<std::byte> gradients) {
      if (group.rank_set().size() == 1) return;
      enqueue([&group, gradients, format] { group.all_reduce(gradients, format, Reduction::sum); });
    };
    if (strategy_.zero_stage == 0)
      return sum_over(groups_[section.is_expert ? Axis::expert_gradient : Axis::gradient], whole_gradient(section));
    const std::span<std::byte> own = gradient_part(section);
    if (strategy_.zero_stage == 1 && section.ranks > 1)
      enqueue([&group = shard_group(section), whole = whole_gradient(section), own, format] {
        group.reduce_scatter(whole, own, format, Reduction::sum);
      });
    sum_over(replicate_group(section), own);
  });
}

bool ParameterStore::is_reduced(std::int32_t execution) const {
  bool is_reduced = false;
  for_sections(execution, [&](const Section& section) {
    if (!section.is_trained) return;
    const std::int32_t all = groups_.size(section.is_expert ? Axis::expert_gradient : Axis::gradient);
    const std::int32_t summed = strategy_.zero_stage >= 2 ? all / section.ranks : all;
    is_reduced = is_reduced || summed > 1;
  });
  return is_reduced;
}

bool ParameterStore::has_partial() const {
  return std::any_of(layout_.parameters.begin(), layout_.parameters.end(),
                     [](const LocalParameter& p) { return p.is_partial && p.is_trained; });
}

void ParameterStore::reduce_tied() {
  check(groups_.ends() != nullptr && has_tied_copy(), "a tied embedding is trained at both ends of a pipeline");
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(layout_.tied_embedding)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  // Under ZeRO-1 only the rank's part of either copy is a sum that counts.
  const std::span<std::byte> all =
      strategy_.zero_stage >= 2
          ? gradient_part(section)
          : whole_gradient(section).first(static_cast<std::size_t>(bytes_of(p.elements(), formats_.gradient)));
  enqueue([&group = *groups_.ends(), all, format = element_format(formats_.reduction)] {
    group.all_reduce(all, format, Reduction::sum);
  });
}

void ParameterStore::reduce_partial() {
  device_.wait(Stream::compute, device_.mark(Stream::data));  // their sums over data-parallel ranks
  std::int64_t elements = 0;
  for (const LocalParameter& p : layout_.parameters)
    if (p.is_partial && p.is_trained) elements += p.elements();
  const std::int64_t ranks = groups_.size(Axis::tensor);
  const NumberFormat format = formats_.gradient;
  const BufferRef packed =
      backend_.bind(MemoryClass::working_buffers, storage(divided(elements, ranks) * ranks, format));
  device_.fill(Stream::compute, packed->data(), std::byte{0}, packed->bytes());
  const auto exchange = [&](auto copy) {
    std::int64_t first = 0;
    for (const LocalParameter& p : layout_.parameters) {
      if (!p.is_partial || !p.is_trained) continue;
      const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
      const bool is_part = strategy_.zero_stage >= 1;
      const std::int64_t begin = is_part ? std::max(p.first, section.part_begin()) : p.first;
      const std::int64_t end =
          is_part ? std::min(p.first + p.elements(), section.part_begin() + section.part()) : p.first + p.elements();
      std::byte* held = is_part ? gradient_part(section).data() - bytes_of(section.part_begin(), format)
                                : whole_gradient(section).data();
      if (begin < end)
        copy(packed->data() + bytes_of(first + begin - p.first, format), held + bytes_of(begin, format),
             storage(end - begin, format));
      first += p.elements();
    }
  };
  exchange([this](std::byte* place, const std::byte* held, Bytes size) {
    device_.copy(Stream::compute, place, held, size);
  });
  device_.enqueue(Stream::compute, [all = span_of(packed), &group = groups_[Axis::tensor],
                                    sum_format = element_format(formats_.reduction)] {
    group.all_reduce(all, sum_format, Reduction::sum);
  });
  exchange([this](const std::byte* place, std::byte* held, Bytes size) {
    device_.copy(Stream::compute, held, place, size);
  });
}

}  // namespace plumbline
