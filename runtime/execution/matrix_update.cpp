#include "runtime/execution/matrix_update.h"

#include <algorithm>

#include "runtime/device/device_kernels.h"

namespace plumbline {
namespace {

Bytes floats(std::int64_t count) { return storage(count, NumberFormat::fp32); }

std::span<std::byte> bytes_of_floats(float* first, std::int64_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<std::size_t>(count)));
}

/// One plane of a box that lies densely at `first`.
TensorView plane_of(float* first, const TensorBox& box, std::int64_t plane) {
  const std::int64_t size = box.extent[1] * box.extent[2];
  return dense_view(static_cast<void*>(first + plane * size), NumberFormat::fp32, box.extent[1], box.extent[2]);
}

/// Of the experts on this rank, with the whole of each one's matrix; the box itself where it is no expert's.
TensorBox without_other_experts(TensorBox box) {
  box.whole[0] = box.extent[0];
  box.begin[0] = 0;
  return box;
}

/// The same elements in the whole tensor, at `whole`.
TensorView place_of(float* whole, const TensorBox& box, std::int64_t plane) {
  TensorView view = plane_of(whole + box.whole_index(plane * box.extent[1] * box.extent[2]), box, 0);
  view.stride = box.whole[2];
  return view;
}

bool has_matrices(const ParameterLayout& layout, const Section& section) {
  const auto index = static_cast<std::int32_t>(&section - layout.sections.data());
  return section.is_trained && std::any_of(layout.parameters.begin(), layout.parameters.end(),
                                           [&](const auto& p) { return p.section == index && p.is_layer_matrix; });
}

}  // namespace

struct MatrixUpdate::Gathered {
  const UpdateNumbers& numbers;
  float* section = nullptr;  ///< directions of a whole section; nothing where a rank holds it alone
  float* slices = nullptr;   ///< of a matrix that tensor-parallel ranks divide
};

bool MatrixUpdate::gathers() const {
  if (!facts(memory_.training.optimizer).orthogonalises_matrices) return false;
  return memory_.strategy.tensor_parallel > 1 || memory_.strategy.expert_tensor_parallel > 1 ||
         std::any_of(memory_.layout.sections.begin(), memory_.layout.sections.end(),
                     [](const Section& s) { return s.ranks > 1; });
}

MuonStep MatrixUpdate::step_of(const OwnedRange& owned, const UpdateNumbers& numbers) const {
  return {optimized(memory_, owned, numbers), memory_.moment(owned, 0), numbers.settings.momentum};
}

void MatrixUpdate::update(const UpdateNumbers& numbers) {
  std::int64_t section = 0;
  std::int64_t slices = 0;
  for (const Section& each : memory_.layout.sections)
    if (each.ranks > 1 && has_matrices(memory_.layout, each)) section = std::max(section, each.padded);
  for (const LocalParameter& p : memory_.layout.parameters)
    if (const std::int64_t ranks = dividing_ranks(p); p.is_trained && p.is_layer_matrix && ranks > 1)
      slices = std::max(slices, p.elements() * ranks);
  const Bytes size = storage(section + slices, NumberFormat::fp32);
  const BufferRef memory = size.value() > 0 ? memory_.backend.bind(MemoryClass::gathered_parameters, size) : nullptr;
  Gathered update{numbers};
  if (section > 0) update.section = reinterpret_cast<float*>(memory->data());
  if (slices > 0) update.slices = reinterpret_cast<float*>(memory->data()) + section;
  for (std::int32_t s = 0; s < std::ssize(memory_.layout.sections); ++s) {
    const Section& each = memory_.layout.sections[static_cast<std::size_t>(s)];
    if (!has_matrices(memory_.layout, each)) continue;
    if (each.ranks > 1) gather_directions(each, update);
    for (std::int32_t p = 0; p < std::ssize(memory_.layout.parameters); ++p) {
      const LocalParameter& parameter = memory_.layout.parameters[static_cast<std::size_t>(p)];
      if (parameter.section == s && parameter.is_layer_matrix) update_matrix(p, each, update);
    }
  }
}

void MatrixUpdate::gather_floats(Communicator& group, std::span<const std::byte> own, std::span<std::byte> all) {
  memory_.device.enqueue(Stream::compute, [=, &group] { group.all_gather(own, all, ElementFormat::fp32); });
}

void MatrixUpdate::gather_directions(const Section& section, const Gathered& update) {
  float* const own = update.section + section.part_begin();
  memory_.device.fill(Stream::compute, own, std::byte{0}, floats(section.part()));
  for (const OwnedRange& owned : memory_.layout.owned) {
    const LocalParameter& p = memory_.layout.parameters[static_cast<std::size_t>(owned.parameter)];
    if (&memory_.layout.sections[static_cast<std::size_t>(p.section)] != &section || !p.is_layer_matrix) continue;
    memory_.device.kernels().muon_direction(step_of(owned, update.numbers), update.section + p.first + owned.first);
  }
  gather_floats(memory_.shard_group(section), bytes_of_floats(own, section.part()),
                bytes_of_floats(update.section, section.padded));
}

std::int64_t MatrixUpdate::dividing_ranks(const LocalParameter& p) const {
  if (p.is_expert) return memory_.strategy.expert_tensor_parallel;
  return p.is_divided ? memory_.strategy.tensor_parallel : 1;
}

void MatrixUpdate::gather_slices(const LocalParameter& p, const float* own, const Gathered& update, float* whole) {
  Communicator& group = p.is_expert ? memory_.groups.expert_matrices() : memory_.groups[Axis::tensor];
  const std::int64_t ranks = dividing_ranks(p);
  const std::int64_t count = p.elements();
  float* const here = update.slices + group.index() * count;
  memory_.device.copy(Stream::compute, here, own, floats(count));
  gather_floats(group, bytes_of_floats(here, count), bytes_of_floats(update.slices, count * ranks));
  TensorBox box = without_other_experts(p.box);
  const std::size_t divided = box.extent[1] != box.whole[1] ? 1 : 2;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    box.begin[divided] = rank * box.extent[divided];
    for (std::int64_t plane = 0; plane < box.extent[0]; ++plane)
      memory_.device.kernels().cast({plane_of(update.slices + rank * count, box, plane), place_of(whole, box, plane)});
  }
}

/// A tensor of experts is a matrix for each of them.
void MatrixUpdate::update_matrix(std::int32_t index, const Section& section, const Gathered& update) {
  const LocalParameter& p = memory_.layout.parameters[static_cast<std::size_t>(index)];
  const auto owned = std::find_if(memory_.layout.owned.begin(), memory_.layout.owned.end(),
                                  [&](const OwnedRange& each) { return each.parameter == index; });
  const bool is_owned = owned != memory_.layout.owned.end();
  const TensorBox box = without_other_experts(p.box);
  const std::int64_t planes = box.extent[0];
  const std::int64_t rows = box.whole[1];
  const std::int64_t columns = box.whole[2];
  const std::int64_t scratch = memory_.device.kernels().orthogonalise_scratch(rows, columns);
  const Workspace room =
      memory_.backend.workspace(storage(p.elements() + planes * rows * columns + scratch, NumberFormat::fp32));
  float* const own = reinterpret_cast<float*>(room.data);
  float* const whole = own + p.elements();
  if (section.ranks > 1)
    memory_.device.copy(Stream::compute, own, update.section + p.first, floats(p.elements()));
  else
    memory_.device.kernels().muon_direction(step_of(*owned, update.numbers), own);
  if (dividing_ranks(p) > 1)
    gather_slices(p, own, update, whole);
  else
    memory_.device.copy(Stream::compute, whole, own, floats(p.elements()));
  if (!is_owned) return;
  const std::int64_t of_plane = box.extent[1] * box.extent[2];
  for (std::int64_t plane = owned->first / of_plane; plane * of_plane < owned->first + owned->count; ++plane) {
    memory_.device.kernels().orthogonalise(whole + plane * rows * columns, rows, columns, MuonStep().iterations,
                                           whole + planes * rows * columns);
    memory_.device.kernels().cast({place_of(whole, box, plane), plane_of(own, box, plane)});
  }
  memory_.device.kernels().muon_apply(step_of(*owned, update.numbers), own + owned->first, rows, columns);
}

}  // namespace plumbline
