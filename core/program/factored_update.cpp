#include "core/program/factored_update.h"

#include <algorithm>
#include <utility>

#include "core/program/parameter_copies.h"

namespace plumbline {
namespace {

class FactoredLowering {
 public:
  FactoredLowering(const ParameterLayout& layout, const Strategy& strategy, std::int32_t rank)
      : layout_(layout), s_(strategy), rank_(rank) {}

  UpdateProgram run() {
    for (std::int32_t o = 0; o < std::ssize(layout_.owned); ++o)
      if (answers_for(s_, parameter_of(o), rank_)) add_owned(UpdateKind::sum_gradients, o);
    add(UpdateKind::decide);
    std::int64_t most = 0;
    for (std::int32_t s = 0; s < std::ssize(layout_.sections); ++s) most = std::max(most, room_of(s).total());
    if (most == 0) return std::move(program_);
    program_.buffers.push_back({most});
    add(UpdateKind::allocate).to = values(0, most);
    for (std::int32_t s = 0; s < std::ssize(layout_.sections); ++s)
      if (layout_.sections[static_cast<std::size_t>(s)].is_trained) update_section(s);
    add(UpdateKind::release).to = values(0, 0);
    return std::move(program_);
  }

 private:
  UpdateInstruction& add(UpdateKind kind) {
    UpdateInstruction& added = program_.instructions.emplace_back();
    added.kind = kind;
    return added;
  }
  UpdateInstruction& add_owned(UpdateKind kind, std::int32_t o) {
    UpdateInstruction& added = add(kind);
    added.owned = o;
    added.elements = {owned(o).first, owned(o).count};
    return added;
  }
  /// Of the buffer.
  static FloatRows values(std::int64_t first, std::int64_t count) { return {0, first, 1, count, count}; }

  [[nodiscard]] const OwnedRange& owned(std::int32_t o) const { return layout_.owned[static_cast<std::size_t>(o)]; }
  [[nodiscard]] const LocalParameter& parameter(std::int32_t index) const {
    return layout_.parameters[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const LocalParameter& parameter_of(std::int32_t o) const { return parameter(owned(o).parameter); }
  [[nodiscard]] bool is_sliced(const LocalParameter& p) const { return dividing_ranks(p, s_) > 1; }
  [[nodiscard]] SummingRanks ranks_of(const Section& section) const {
    return {section.is_expert ? s_.expert_tensor_parallel : s_.tensor_parallel, section.ranks};
  }
  [[nodiscard]] FactoredRoom room_of(std::int32_t s) const {
    const Section& section = layout_.sections[static_cast<std::size_t>(s)];
    if (!section.is_trained) return {};
    FactoredSums sums;
    for (const LocalParameter& p : layout_.parameters)
      if (p.section == s) sums += p.factored_sums(is_sliced(p));
    return factored_room(sums, ranks_of(section));
  }

  void update_section(std::int32_t s) {
    const FactoredRoom room = room_of(s);
    const auto first = static_cast<std::int32_t>(program_.places.size());
    place_all(s, room);
    add(UpdateKind::clear).to = values(0, room.total());
    for_owned(first, UpdateKind::add_squares);
    reduce(s, 0, room.divided, room.first);
    for (std::int32_t i = first; i < std::ssize(program_.places); ++i) add(UpdateKind::keep_means).places = i;
    for_owned(first, UpdateKind::add_updates);
    reduce(s, room.first, room.divided_updates, room.second);
    for_owned(first, UpdateKind::take_update);
  }

  /// What ranks with slices have in common stands first in each part.
  void place_all(std::int32_t s, const FactoredRoom& room) {
    std::int64_t sliced = 0;
    std::int64_t whole = room.divided;
    std::int64_t sliced_updates = room.first;
    std::int64_t whole_updates = room.first + room.divided_updates;
    std::int64_t means = room.first + room.second;
    const auto take = [](std::int64_t& next, std::int64_t count) { return std::exchange(next, next + count); };
    for (std::int32_t i = 0; i < std::ssize(layout_.parameters); ++i) {
      const LocalParameter& p = parameter(i);
      if (p.section != s) continue;
      const bool is_sliced_here = is_sliced(p);
      const bool shares_rows = is_sliced_here && p.dimensions > 1 && p.box.extent[1] == p.box.whole[1];
      const bool shares_columns = is_sliced_here && p.dimensions > 1 && !shares_rows;
      const std::int64_t matrices = p.box.extent[0];
      SumPlaces places;
      places.parameter = i;
      places.rows = take(shares_rows ? sliced : whole, p.row_squares().elements());
      places.columns = take(shares_columns ? sliced : whole, p.column_squares().elements());
      places.weights = take(is_sliced_here ? sliced : whole, matrices);
      places.updates = take(is_sliced_here ? sliced_updates : whole_updates, matrices);
      places.means = take(means, matrices);
      program_.places.push_back(places);
    }
  }

  /// What the rank owns of the parameters from place `first` on.
  void for_owned(std::int32_t first, UpdateKind kind) {
    for (std::int32_t i = first; i < std::ssize(program_.places); ++i)
      for (std::int32_t o = 0; o < std::ssize(layout_.owned); ++o)
        if (owned(o).parameter == program_.places[static_cast<std::size_t>(i)].parameter) add_owned(kind, o).places = i;
  }

  /// `count` values from `first` on, of which ranks with slices have the first `divided` in common.
  void reduce(std::int32_t s, std::int64_t first, std::int64_t divided, std::int64_t count) {
    const SummingRanks ranks = ranks_of(layout_.sections[static_cast<std::size_t>(s)]);
    const auto over = [&](GatherGroup group, std::int64_t size, std::int64_t of_group) {
      if (of_group == 1 || size == 0) return;
      UpdateInstruction& added = add(UpdateKind::reduce);
      added.group = group;
      added.section = s;
      added.ranks = static_cast<std::int32_t>(of_group);
      added.to = values(first, size);
    };
    over(GatherGroup::states, count, ranks.states);
    over(GatherGroup::slices, divided, ranks.slices);
  }

  const ParameterLayout& layout_;
  const Strategy& s_;
  std::int32_t rank_;
  UpdateProgram program_;
};

}  // namespace

UpdateProgram lower_factored_update(const ParameterLayout& layout, const Strategy& strategy, std::int32_t rank) {
  return FactoredLowering(layout, strategy, rank).run();
}

}  // namespace plumbline
