#include <algorithm>

#include "core/base/errors.h"
#include "core/plan/rank_group.h"
#include "core/program/factored_update.h"
#include "core/program/parameter_copies.h"
#include "core/program/update_program.h"

namespace plumbline {
namespace {

/// Of the experts on this rank, with the whole of each one's matrix; the box itself where it is no expert's.
TensorBox without_other_experts(TensorBox box) {
  box.whole[0] = box.extent[0];
  box.begin[0] = 0;
  return box;
}

/// Plane `plane` of a box that is stored contiguously and begins at element `first` of the buffer.
FloatRows plane_of(std::int32_t buffer, std::int64_t first, const TensorBox& box, std::int64_t plane) {
  return {buffer, first + plane * box.extent[1] * box.extent[2], box.extent[1], box.extent[2], box.extent[2]};
}

/// The same elements in the whole tensor, which lies from `whole` on.
FloatRows place_of(std::int32_t buffer, std::int64_t whole, const TensorBox& box, std::int64_t plane) {
  FloatRows rows = plane_of(buffer, whole + box.whole_index(plane * box.extent[1] * box.extent[2]), box, 0);
  rows.stride = box.whole[2];
  return rows;
}

FloatRows row(std::int32_t buffer, std::int64_t first, std::int64_t count) { return {buffer, first, 1, count, count}; }

class UpdateLowering {
 public:
  UpdateLowering(const ParameterLayout& layout, const Strategy& strategy, Optimizer optimizer, std::int32_t rank)
      : layout_(layout), s_(strategy), optimizer_(optimizer), rank_(rank) {}

  UpdateProgram run() {
    for (std::int32_t o = 0; o < std::ssize(layout_.owned); ++o)
      if (answers_for(s_, parameter_of(o), rank_)) add(UpdateKind::sum_gradients).of(o, all_of(o));
    add(UpdateKind::decide);
    const bool gathers = gathers_matrices();
    for (std::int32_t o = 0; o < std::ssize(layout_.owned); ++o)
      if (!orthogonalises(parameter_of(o)))
        add(UpdateKind::update).of(o, all_of(o));
      else if (!gathers)
        add_matrix_updates(o);
    if (gathers) add_gathered_updates();
    return std::move(program_);
  }

 private:
  /// Sets fields of the instruction that `add` has just appended.
  struct Added {
    UpdateInstruction& instruction;
    Added& of(std::int32_t owned, ElementRange elements) {
      instruction.owned = owned;
      instruction.elements = elements;
      return *this;
    }
    Added& matrix(std::int64_t rows, std::int64_t columns) {
      instruction.rows = rows;
      instruction.columns = columns;
      return *this;
    }
    Added& from(FloatRows rows) {
      instruction.from = rows;
      return *this;
    }
    Added& to(FloatRows rows) {
      instruction.to = rows;
      return *this;
    }
    Added& over(GatherGroup group, std::int32_t section, std::int64_t ranks) {
      instruction.group = group;
      instruction.section = section;
      instruction.ranks = static_cast<std::int32_t>(ranks);
      return *this;
    }
  };
  Added add(UpdateKind kind) {
    UpdateInstruction& added = program_.instructions.emplace_back();
    added.kind = kind;
    return {added};
  }
  std::int32_t allocate(UpdateBuffer buffer) {
    program_.buffers.push_back(buffer);
    const auto id = static_cast<std::int32_t>(program_.buffers.size()) - 1;
    add(UpdateKind::allocate).to(row(id, 0, buffer.elements));
    return id;
  }
  void release(std::int32_t buffer) {
    if (buffer >= 0) add(UpdateKind::release).to(row(buffer, 0, 0));
  }

  [[nodiscard]] const LocalParameter& parameter(std::int32_t index) const {
    return layout_.parameters[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const OwnedRange& owned(std::int32_t index) const {
    return layout_.owned[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const LocalParameter& parameter_of(std::int32_t o) const { return parameter(owned(o).parameter); }
  [[nodiscard]] ElementRange all_of(std::int32_t o) const { return {owned(o).first, owned(o).count}; }
  [[nodiscard]] bool orthogonalises(const LocalParameter& p) const {
    return facts(optimizer_).orthogonalises_matrices && p.is_layer_matrix;
  }
  /// Whether ranks share or divide what the optimizer needs whole.
  [[nodiscard]] bool gathers_matrices() const {
    if (!facts(optimizer_).orthogonalises_matrices) return false;
    return s_.tensor_parallel > 1 || s_.expert_tensor_parallel > 1 ||
           std::any_of(layout_.sections.begin(), layout_.sections.end(), [](const Section& s) { return s.ranks > 1; });
  }
  [[nodiscard]] bool has_matrices(std::int32_t section) const {
    return layout_.sections[static_cast<std::size_t>(section)].is_trained &&
           std::any_of(layout_.parameters.begin(), layout_.parameters.end(),
                       [&](const LocalParameter& p) { return p.section == section && p.is_layer_matrix; });
  }

  /// A tensor of experts is a matrix for each of them.
  void add_matrix_updates(std::int32_t o) {
    const LocalParameter& p = parameter_of(o);
    const std::int64_t planes = p.box.extent[0];
    const std::int64_t rows = p.rows() / planes;
    const std::int64_t size = rows * p.columns();
    for (std::int64_t plane = 0; plane < planes; ++plane)
      add(UpdateKind::update_matrix).of(o, {plane * size, size}).matrix(rows, p.columns());
  }

  void add_gathered_updates() {
    std::int64_t section = 0;
    std::int64_t slices = 0;
    for (std::int32_t s = 0; s < std::ssize(layout_.sections); ++s) {
      const Section& each = layout_.sections[static_cast<std::size_t>(s)];
      if (each.ranks > 1 && has_matrices(s)) section = std::max(section, each.padded);
    }
    for (const LocalParameter& p : layout_.parameters)
      if (const std::int64_t ranks = dividing_ranks(p, s_); p.is_trained && p.is_layer_matrix && ranks > 1)
        slices = std::max(slices, p.elements() * ranks);
    if (section + slices > 0) gathered_ = allocate({section + slices});
    first_slice_ = section;
    for (std::int32_t s = 0; s < std::ssize(layout_.sections); ++s) {
      if (!has_matrices(s)) continue;
      if (layout_.sections[static_cast<std::size_t>(s)].ranks > 1) gather_directions(s);
      for (std::int32_t p = 0; p < std::ssize(layout_.parameters); ++p)
        if (parameter(p).section == s && parameter(p).is_layer_matrix) update_gathered(p);
    }
    release(gathered_);
  }

  void gather_directions(std::int32_t s) {
    const Section& section = layout_.sections[static_cast<std::size_t>(s)];
    const FloatRows own = row(gathered_, section.part_begin(), section.part());
    add(UpdateKind::clear).to(own);
    for (std::int32_t o = 0; o < std::ssize(layout_.owned); ++o) {
      const LocalParameter& p = parameter_of(o);
      if (p.section != s || !p.is_layer_matrix) continue;
      add(UpdateKind::direction).of(o, all_of(o)).to(row(gathered_, p.first + owned(o).first, owned(o).count));
    }
    add(UpdateKind::gather).over(GatherGroup::states, s, section.ranks).from(own).to(row(gathered_, 0, section.padded));
  }

  /// The scratch holds the direction of this rank's part, then that of whole matrices.
  void update_gathered(std::int32_t index) {
    const LocalParameter& p = parameter(index);
    const auto at = std::find_if(layout_.owned.begin(), layout_.owned.end(),
                                 [&](const OwnedRange& each) { return each.parameter == index; });
    const auto o = at == layout_.owned.end() ? -1 : static_cast<std::int32_t>(at - layout_.owned.begin());
    const TensorBox box = without_other_experts(p.box);
    const std::int64_t rows = box.whole[1];
    const std::int64_t columns = box.whole[2];
    const std::int64_t of_whole = box.extent[0] * rows * columns;
    std::int32_t room = allocate({p.elements() + of_whole, true, rows, columns});
    const std::int64_t whole = p.elements();
    if (layout_.sections[static_cast<std::size_t>(p.section)].ranks > 1)
      add(UpdateKind::copy).from(row(gathered_, p.first, p.elements())).to(row(room, 0, p.elements()));
    else
      add(UpdateKind::direction).of(o, all_of(o)).to(row(room, 0, p.elements()));
    if (dividing_ranks(p, s_) > 1)
      gather_slices(p, room, whole);
    else
      add(UpdateKind::copy).from(row(room, 0, p.elements())).to(row(room, whole, p.elements()));
    if (o >= 0) take_own(o, box, room, whole);
    release(room);
  }

  /// The direction of whole matrices, from those that ranks which divide them hold.
  void gather_slices(const LocalParameter& p, std::int32_t room, std::int64_t whole) {
    const std::int64_t count = p.elements();
    const std::int64_t ranks = dividing_ranks(p, s_);
    const Axis axis = p.is_expert ? Axis::expert_tensor : Axis::tensor;
    const FloatRows here = row(gathered_, first_slice_ + coordinate(s_, axis, rank_) * count, count);
    add(UpdateKind::copy).from(row(room, 0, count)).to(here);
    add(UpdateKind::gather)
        .over(GatherGroup::slices, p.section, ranks)
        .from(here)
        .to(row(gathered_, first_slice_, count * ranks));
    TensorBox box = without_other_experts(p.box);
    const std::size_t divided = box.extent[1] != box.whole[1] ? 1 : 2;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      box.begin[divided] = rank * box.extent[divided];
      for (std::int64_t plane = 0; plane < box.extent[0]; ++plane)
        add(UpdateKind::copy)
            .from(plane_of(gathered_, first_slice_ + rank * count, box, plane))
            .to(place_of(room, whole, box, plane));
    }
  }

  /// Orthogonalises the matrices with elements of the rank, and updates these.
  void take_own(std::int32_t o, const TensorBox& box, std::int32_t room, std::int64_t whole) {
    const OwnedRange& own = owned(o);
    const std::int64_t rows = box.whole[1];
    const std::int64_t columns = box.whole[2];
    const std::int64_t of_plane = box.extent[1] * box.extent[2];
    const std::int64_t scratch = program_.buffers[static_cast<std::size_t>(room)].elements;
    for (std::int64_t plane = own.first / of_plane; plane * of_plane < own.first + own.count; ++plane) {
      add(UpdateKind::orthogonalise)
          .matrix(rows, columns)
          .from(row(room, scratch, 0))
          .to({room, whole + plane * rows * columns, rows, columns, columns});
      add(UpdateKind::copy).from(place_of(room, whole, box, plane)).to(plane_of(room, 0, box, plane));
    }
    add(UpdateKind::apply).of(o, all_of(o)).matrix(rows, columns).from(row(room, own.first, own.count));
  }

  const ParameterLayout& layout_;
  const Strategy& s_;
  Optimizer optimizer_;
  std::int32_t rank_;
  std::int32_t gathered_ = -1;  ///< buffer of a section's directions, then of slices
  std::int64_t first_slice_ = 0;
  UpdateProgram program_;
};

}  // namespace

std::int64_t dividing_ranks(const LocalParameter& p, const Strategy& s) {
  if (p.is_expert) return s.expert_tensor_parallel;
  return p.is_divided ? s.tensor_parallel : 1;
}

UpdateProgram lower_update(const ParameterLayout& layout, const Strategy& strategy, Optimizer optimizer,
                           std::int32_t rank) {
  if (facts(optimizer).factors_squares) return lower_factored_update(layout, strategy, rank);
  return UpdateLowering(layout, strategy, optimizer, rank).run();
}

}  // namespace plumbline
