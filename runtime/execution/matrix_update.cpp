// Muon where ranks share a matrix's states or divide the matrix: directions are gathered, the whole is orthogonalised,
// and each rank takes the elements that it updates (core/cost/matrix_gathers.h).
#include <algorithm>

#include "runtime/device/device_kernels.h"
#include "runtime/execution/element_views.h"
#include "runtime/execution/parameter_store.h"

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

struct ParameterStore::MatrixUpdate {
  const OptimizerSettings& settings;
  double learning_rate;
  double factor;
  float* section = nullptr;  ///< directions of a whole section; nothing where a rank holds it alone
  float* slices = nullptr;   ///< of a matrix that tensor-parallel ranks divide
};

bool ParameterStore::gathers_matrices() const {
  if (!facts(optimizer_).orthogonalises_matrices) return false;
  return strategy_.tensor_parallel > 1 ||
         std::any_of(layout_.sections.begin(), layout_.sections.end(), [](const Section& s) { return s.ranks > 1; });
}

MuonStep ParameterStore::muon_step_of(const OwnedRange& owned, const MatrixUpdate& u) const {
  return {optimized(owned, u.settings, u.learning_rate, u.factor), moment(owned, 0), u.settings.momentum};
}

void ParameterStore::update_matrices(const OptimizerSettings& settings, double learning_rate, double factor) {
  std::int64_t section = 0;
  std::int64_t slices = 0;
  for (const Section& each : layout_.sections)
    if (each.ranks > 1 && has_matrices(layout_, each)) section = std::max(section, each.padded);
  for (const LocalParameter& p : layout_.parameters)
    if (const std::int64_t ranks = dividing_ranks(p); p.is_trained && p.is_layer_matrix && ranks > 1)
      slices = std::max(slices, p.elements() * ranks);
  const Bytes size = storage(section + slices, NumberFormat::fp32);
  const BufferRef memory = size.value() > 0 ? backend_.bind(MemoryClass::gathered_parameters, size) : nullptr;
  MatrixUpdate update{settings, learning_rate, factor};
  if (section > 0) update.section = reinterpret_cast<float*>(memory->data());
  if (slices > 0) update.slices = reinterpret_cast<float*>(memory->data()) + section;
  for (std::int32_t s = 0; s < std::ssize(layout_.sections); ++s) {
    const Section& each = layout_.sections[static_cast<std::size_t>(s)];
    if (!has_matrices(layout_, each)) continue;
    if (each.ranks > 1) gather_directions(each, update);
    for (std::int32_t p = 0; p < std::ssize(layout_.parameters); ++p) {
      const LocalParameter& parameter = layout_.parameters[static_cast<std::size_t>(p)];
      if (parameter.section == s && parameter.is_layer_matrix) update_matrix(p, each, update);
    }
  }
}

void ParameterStore::gather_floats(Communicator& group, std::span<const std::byte> own, std::span<std::byte> all) {
  device_.enqueue(Stream::compute, [=, &group] { group.all_gather(own, all, ElementFormat::fp32); });
}

void ParameterStore::gather_directions(const Section& section, const MatrixUpdate& update) {
  float* const own = update.section + section.part_begin();
  device_.fill(Stream::compute, own, std::byte{0}, floats(section.part()));
  for (const OwnedRange& owned : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
    if (&layout_.sections[static_cast<std::size_t>(p.section)] != &section || !p.is_layer_matrix) continue;
    device_.kernels().muon_direction(muon_step_of(owned, update), update.section + p.first + owned.first);
  }
  gather_floats(shard_group(section), bytes_of_floats(own, section.part()),
                bytes_of_floats(update.section, section.padded));
}

std::int64_t ParameterStore::dividing_ranks(const LocalParameter& p) const {
  if (p.is_expert) return strategy_.expert_tensor_parallel;
  return p.is_divided ? strategy_.tensor_parallel : 1;
}

void ParameterStore::gather_slices(const LocalParameter& p, const float* own, const MatrixUpdate& update,
                                   float* whole) {
  Communicator& group = p.is_expert ? groups_.expert_matrices() : groups_[Axis::tensor];
  const std::int64_t ranks = dividing_ranks(p);
  const std::int64_t count = p.elements();
  float* const here = update.slices + group.index() * count;
  device_.copy(Stream::compute, here, own, floats(count));
  gather_floats(group, bytes_of_floats(here, count), bytes_of_floats(update.slices, count * ranks));
  TensorBox box = without_other_experts(p.box);
  const std::size_t divided = box.extent[1] != box.whole[1] ? 1 : 2;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    box.begin[divided] = rank * box.extent[divided];
    for (std::int64_t plane = 0; plane < box.extent[0]; ++plane)
      device_.kernels().cast({plane_of(update.slices + rank * count, box, plane), place_of(whole, box, plane)});
  }
}

/// A tensor of experts is a matrix for each of them.
void ParameterStore::update_matrix(std::int32_t index, const Section& section, const MatrixUpdate& update) {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(index)];
  const auto owned = std::find_if(layout_.owned.begin(), layout_.owned.end(),
                                  [&](const OwnedRange& each) { return each.parameter == index; });
  const bool is_owned = owned != layout_.owned.end();
  const TensorBox box = without_other_experts(p.box);
  const std::int64_t planes = box.extent[0];
  const std::int64_t rows = box.whole[1];
  const std::int64_t columns = box.whole[2];
  const std::int64_t scratch = device_.kernels().orthogonalise_scratch(rows, columns);
  const Workspace room =
      backend_.workspace(storage(p.elements() + planes * rows * columns + scratch, NumberFormat::fp32));
  float* const own = reinterpret_cast<float*>(room.data);
  float* const whole = own + p.elements();
  if (section.ranks > 1)
    device_.copy(Stream::compute, own, update.section + p.first, floats(p.elements()));
  else
    device_.kernels().muon_direction(muon_step_of(*owned, update), own);
  if (dividing_ranks(p) > 1)
    gather_slices(p, own, update, whole);
  else
    device_.copy(Stream::compute, whole, own, floats(p.elements()));
  if (!is_owned) return;
  const std::int64_t of_plane = box.extent[1] * box.extent[2];
  for (std::int64_t plane = owned->first / of_plane; plane * of_plane < owned->first + owned->count; ++plane) {
    device_.kernels().orthogonalise(whole + plane * rows * columns, rows, columns, MuonStep().iterations,
                                    whole + planes * rows * columns);
    device_.kernels().cast({place_of(whole, box, plane), plane_of(own, box, plane)});
  }
  device_.kernels().muon_apply(muon_step_of(*owned, update), own + owned->first, rows, columns);
}

}  // namespace plumbline
