#include "runtime/execution/parameter_state.h"

#include <algorithm>

#include "kernels/reductions.h"
#include "runtime/device/device_kernels.h"

namespace plumbline {
namespace {

/// Elements that pass between the host and the device at a time.
constexpr std::int64_t most_at_a_time = 1 << 16;
/// First weights that the host draws at a time: enough for many threads.
constexpr std::int64_t most_drawn = 1 << 22;

/// Of a parameter, what is up to date in the weights that a rank holds.
ElementRange held_range(const ParameterMemory& memory, const LocalParameter& p, bool is_divided) {
  return is_divided ? own_part(p, memory.section_of(p)) : ElementRange{0, p.elements()};
}

}  // namespace

std::vector<ParameterState::Elements> ParameterState::held_elements(std::int32_t parameter) const {
  const LocalParameter& p = memory_.parameter(parameter);
  const ElementRange held = held_range(memory_, p, memory_.strategy.zero_stage >= 3);
  if (held.count == 0) return {};
  std::vector<Elements> all{{held, row(memory_.held_weights(p, held.first), memory_.formats.weight, held.count)}};
  if (!memory_.has_masters()) return all;
  for (const OwnedRange& owned : memory_.layout.owned)
    if (owned.parameter == parameter) all.push_back({{owned.first, owned.count}, memory_.owned_master(owned)});
  return all;
}

void ParameterState::put(const std::vector<Elements>& held, std::int64_t first, std::span<const float> values) const {
  for (std::int64_t done = 0; done < std::ssize(values); done += most_at_a_time) {
    const std::int64_t count = std::min(most_at_a_time, std::ssize(values) - done);
    const Workspace room = memory_.backend.workspace(storage(count, NumberFormat::fp32));
    memory_.device.upload(Stream::compute, room.data, values.data() + done, room.size);
    const ConstTensorView all = dense_view(static_cast<const void*>(room.data), NumberFormat::fp32, 1, count);
    for (const Elements& to : held) {
      const std::int64_t begin = std::max(to.range.first, first + done);
      const std::int64_t of_range = std::min(to.range.first + to.range.count, first + done + count) - begin;
      if (of_range > 0)
        memory_.device.kernels().cast(
            {all.columns_from(begin - first - done, of_range), to.row.columns_from(begin - to.range.first, of_range)});
    }
  }
}

void ParameterState::fill(const Fill& fill) const {
  std::vector<float> values;
  for (std::int32_t parameter = 0; parameter < std::ssize(memory_.layout.parameters); ++parameter) {
    const std::vector<Elements> held = held_elements(parameter);
    if (held.empty()) continue;
    const ElementRange whole = held.front().range;
    for (const Elements& other : held)
      check(other.range.first >= whole.first && other.range.first + other.range.count <= whole.first + whole.count,
            "a rank holds the weights that it has master copies of");
    for (std::int64_t done = 0; done < whole.count; done += most_drawn) {
      values.resize(static_cast<std::size_t>(std::min(most_drawn, whole.count - done)));
      fill(memory_.parameter(parameter), whole.first + done, values);
      put(held, whole.first + done, values);
    }
  }
}

void ParameterState::initialise(const FirstWeights& first) {
  fill([&](const LocalParameter& p, std::int64_t begin, std::span<float> values) {
    for (float& value : values) value = first(p, p.box.whole_index(begin++));
  });
}

void ParameterState::initialise(Initialisation initialisation, std::uint64_t seed) {
  fill([&](const LocalParameter& p, std::int64_t begin, std::span<float> values) {
    draw_initial_values(initialisation, seed, p, begin, values);
  });
}

std::vector<std::byte> ParameterState::downloaded(const void* from, Bytes bytes) const {
  std::vector<std::byte> host(static_cast<std::size_t>(bytes.value()));
  memory_.device.download(Stream::compute, host.data(), from, bytes);
  wait();
  return host;
}

std::vector<std::byte> ParameterState::downloaded(const StateRange& range, ElementRange elements) const {
  const StateData held = memory_.state(range);
  return downloaded(held.data.data() + bytes_of(elements.first, held.format), storage(elements.count, held.format));
}

void ParameterState::upload(const StateRange& range, std::int64_t first, std::span<const std::byte> data) {
  const StateData held = memory_.state(range);
  memory_.device.upload(Stream::compute, held.data.data() + bytes_of(first, held.format), data.data(),
                        Bytes(std::ssize(data)));
}

bool ParameterState::has_non_finite() const {
  const ScratchKernel<HealthSum>& kernel = memory_.device.kernels().add_health;
  const std::vector<StateRange> ranges =
      answered_state(memory_.layout, memory_.strategy, memory_.training, memory_.groups.rank());
  const auto args_of = [&](const StateRange& range) {
    const StateData held = memory_.state(range);
    return HealthSum{row(held.data.data(), held.format, range.elements.count)};
  };
  Bytes scratch(0);
  for (const StateRange& range : ranges) scratch = std::max(scratch, kernel.workspace(args_of(range)));
  const Bytes size(sizeof(TensorHealth));
  constexpr Bytes of_sum(64);  // keeps the scratch behind it aligned
  auto* const memory = static_cast<std::byte*>(memory_.backend.workspace(of_sum + scratch).data);
  auto* const sum = reinterpret_cast<TensorHealth*>(memory);
  memory_.device.fill(Stream::compute, sum, std::byte{0}, size);
  for (const StateRange& range : ranges) {
    HealthSum args = args_of(range);
    args.sum = sum;
    args.workspace = {memory + of_sum.value(), scratch};
    kernel.run(args);
  }
  TensorHealth found;
  memory_.device.download(Stream::compute, &found, sum, size);
  wait();
  return found.has_non_finite != 0;
}

void ParameterState::look(const Look& look) const {
  const auto show = [&](const LocalParameter& p, ElementRange elements, const void* first, NumberFormat format) {
    look(p, elements, downloaded(first, storage(elements.count, format)));
  };
  for (const LocalParameter& p : memory_.layout.parameters) {
    const ElementRange held = held_range(memory_, p, memory_.strategy.zero_stage >= (p.is_trained ? 1 : 3));
    if (held.count > 0) show(p, held, memory_.held_weights(p, held.first), memory_.formats.weight);
  }
  if (facts(memory_.training.optimizer).factors_squares)
    for (const LocalParameter& p : memory_.layout.parameters)
      for (const StatePart part : {StatePart::row_squares, StatePart::column_squares})
        if (const TensorView means = memory_.squares(p, part); p.is_trained && means.is_there())
          show(p, {0, means.columns}, means.data, means.format);
  for (const OwnedRange& owned : memory_.layout.owned) {
    const LocalParameter& p = memory_.parameter(owned.parameter);
    const ElementRange elements{owned.first, owned.count};
    if (memory_.has_masters()) show(p, elements, memory_.owned_master(owned).data, *memory_.formats.master);
    const int moments = p.has_quantized_states ? 0 : moments_of(p, memory_.training.optimizer);
    for (int m = 0; m < moments; ++m)
      show(p, elements, memory_.moment(owned, static_cast<std::size_t>(m)).data, memory_.formats.optimizer_state);
  }
}

std::vector<float> ParameterState::values_of(const ConstTensorView& row) const {
  std::vector<float> values(static_cast<std::size_t>(row.columns));
  for (std::int64_t done = 0; done < row.columns; done += most_at_a_time) {
    const std::int64_t count = std::min(most_at_a_time, row.columns - done);
    const Workspace room = memory_.backend.workspace(storage(count, NumberFormat::fp32));
    memory_.device.kernels().cast({row.columns_from(done, count), dense_view(room.data, NumberFormat::fp32, 1, count)});
    memory_.device.download(Stream::compute, values.data() + done, room.data, room.size);
  }
  wait();
  return values;
}

void ParameterState::visit(ParameterPart what, const Visit& visit) const {
  for (const OwnedRange& owned : memory_.layout.owned) {
    const LocalParameter& p = memory_.parameter(owned.parameter);
    if (!memory_.answers_for(p)) continue;
    const std::vector<float> values =
        values_of(what == ParameterPart::weights ? memory_.owned_master(owned) : memory_.owned_gradient(owned));
    for (std::int64_t e = 0; e < owned.count; ++e)
      visit(p, p.box.whole_index(owned.first + e), values[static_cast<std::size_t>(e)]);
  }
}

}  // namespace plumbline
