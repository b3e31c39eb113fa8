// What a rank holds of weights, gradients and optimizer state, as the host reads and writes it alongside the steps.
#include <algorithm>

#include "runtime/device/device_kernels.h"
#include "runtime/execution/element_views.h"
#include "runtime/execution/parameter_store.h"

namespace plumbline {

ParameterStore::StateData ParameterStore::state(const StateRange& range) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(range.parameter)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  const auto data = [&](const BufferRef& held, std::int64_t first, NumberFormat format) {
    return StateData{format,
                     {at(held, first, format), static_cast<std::size_t>(bytes_of(range.elements.count, format))}};
  };
  if (range.part == StatePart::weight) {
    const std::int64_t held_begin = strategy_.zero_stage >= 3 ? section.part_begin() : 0;
    return data(weights_, section.weights + p.first + range.elements.first - held_begin, formats_.weight);
  }
  const auto owned = std::find_if(layout_.owned.begin(), layout_.owned.end(),
                                  [&](const OwnedRange& each) { return each.parameter == range.parameter; });
  check(owned != layout_.owned.end(), "a rank keeps the optimizer's state of what it owns");
  const std::int64_t first = range.elements.first - owned->first;
  if (range.part == StatePart::master) return data(masters_, owned->states + first, *formats_.master);
  const std::size_t moment = range.part == StatePart::first_moment ? 0 : 1;
  return data(moments_, owned->moments[moment] + first, formats_.optimizer_state);
}

std::vector<std::byte> ParameterStore::downloaded(const void* from, Bytes bytes) const {
  std::vector<std::byte> host(static_cast<std::size_t>(bytes.value()));
  device_.download(Stream::compute, host.data(), from, bytes);
  device_.finish(device_.mark(Stream::compute));
  return host;
}

std::vector<std::byte> ParameterStore::downloaded(const StateRange& range, ElementRange elements) const {
  const StateData held = state(range);
  return downloaded(held.data.data() + bytes_of(elements.first, held.format), storage(elements.count, held.format));
}

void ParameterStore::upload(const StateRange& range, std::int64_t first, std::span<const std::byte> data) {
  const StateData held = state(range);
  device_.upload(Stream::compute, held.data.data() + bytes_of(first, held.format), data.data(),
                 Bytes(std::ssize(data)));
}

bool ParameterStore::has_non_finite_state() const {
  const Bytes size(sizeof(TensorHealth));
  auto* const sum = static_cast<TensorHealth*>(backend_.workspace(size).data);
  device_.fill(Stream::compute, sum, std::byte{0}, size);
  for (const StateRange& range : answered_state(layout_, strategy_, training_, groups_.rank())) {
    const StateData held = state(range);
    device_.kernels().add_health(row(held.data.data(), held.format, range.elements.count), sum);
  }
  TensorHealth found;
  device_.download(Stream::compute, &found, sum, size);
  device_.finish(device_.mark(Stream::compute));
  return found.has_non_finite != 0;
}

void ParameterStore::look_at_state(const Look& look) const {
  const auto show = [&](const LocalParameter& p, ElementRange elements, const BufferRef& held, std::int64_t first,
                        NumberFormat format) {
    look(p, elements, downloaded(at(held, first, format), storage(elements.count, format)));
  };
  for (const LocalParameter& p : layout_.parameters) {
    const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
    const bool is_divided = strategy_.zero_stage >= (p.is_trained ? 1 : 3);
    const std::int64_t begin = is_divided ? std::max(p.first, section.part_begin()) : p.first;
    const std::int64_t end =
        is_divided ? std::min(p.first + p.elements(), section.part_begin() + section.part()) : p.first + p.elements();
    const std::int64_t held_begin = strategy_.zero_stage >= 3 ? section.part_begin() : 0;
    if (begin < end)
      show(p, {begin - p.first, end - begin}, weights_, section.weights + begin - held_begin, formats_.weight);
  }
  const OptimizerFacts& facts = plumbline::facts(optimizer_);
  for (const OwnedRange& owned : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
    const ElementRange elements{owned.first, owned.count};
    if (masters_) show(p, elements, masters_, owned.states, *formats_.master);
    const int moments = p.is_layer_matrix ? facts.matrix_states : facts.other_states;
    for (int m = 0; m < moments; ++m)
      show(p, elements, moments_, owned.moments[static_cast<std::size_t>(m)], formats_.optimizer_state);
  }
}

std::vector<float> ParameterStore::values_of(const ConstTensorView& row) const {
  std::vector<float> values(static_cast<std::size_t>(row.columns));
  for (std::int64_t done = 0; done < row.columns; done += most_host_elements) {
    const std::int64_t count = std::min(most_host_elements, row.columns - done);
    const Workspace room = backend_.workspace(storage(count, NumberFormat::fp32));
    device_.kernels().cast({row.columns_from(done, count), dense_view(room.data, NumberFormat::fp32, 1, count)});
    device_.download(Stream::compute, values.data() + done, room.data, room.size);
  }
  device_.finish(device_.mark(Stream::compute));
  return values;
}

void ParameterStore::visit(ParameterPart what, const Visit& visit) const {
  for (const OwnedRange& owned : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
    if (!answers_for(p)) continue;
    const std::vector<float> values =
        values_of(what == ParameterPart::weights ? owned_master(owned) : owned_gradient(owned));
    for (std::int64_t e = 0; e < owned.count; ++e)
      visit(p, p.box.whole_index(owned.first + e), values[static_cast<std::size_t>(e)]);
  }
}

}  // namespace plumbline
