#include "runtime/execution/state_parts.h"

#include <algorithm>

#include "core/plan/rank_group.h"

namespace plumbline {
namespace {

/// `weights(parameter)`: the elements whose weights are wanted; the optimizer's state is what the rank owns of them.
/// `squares(parameter, part)`: whether that part is wanted where an optimizer factors squared gradients.
template <class Weights, class Squares>
std::vector<StateRange> ranges(const ParameterLayout& layout, const Training& training, Weights weights,
                               Squares squares) {
  std::vector<StateRange> result;
  const auto add = [&](std::int32_t parameter, StatePart part, ElementRange elements) {
    if (elements.count > 0) result.push_back({parameter, part, elements});
  };
  for (std::int32_t i = 0; i < std::ssize(layout.parameters); ++i) {
    const LocalParameter& p = layout.parameters[static_cast<std::size_t>(i)];
    const ElementRange wanted = weights(p);
    add(i, StatePart::weight, wanted);
    if (p.is_trained && facts(training.optimizer).factors_squares)
      for (const StatePart part : {StatePart::row_squares, StatePart::column_squares})
        if (squares(p, part)) add(i, part, {0, box_of(p, part).elements()});
    if (!p.is_trained || wanted.count == 0) continue;
    const ElementRange owned = own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
    const int moments = p.has_quantized_states ? 0 : moments_of(p, training.optimizer);
    if (training.formats().master) add(i, StatePart::master, owned);
    if (moments > 0) add(i, StatePart::first_moment, owned);
    if (moments > 1) add(i, StatePart::second_moment, owned);
  }
  return result;
}

/// The first of the ranks that hold the same means answers for them.
bool answers_for_squares(const ParameterLayout& layout, const Strategy& strategy, const LocalParameter& p,
                         StatePart part, std::int32_t rank) {
  if (!answers_for(strategy, p, rank) || layout.sections[static_cast<std::size_t>(p.section)].rank != 0) return false;
  const TensorBox box = box_of(p, part);
  const bool is_slice = box.extent[1] != box.whole[1] || box.extent[2] != box.whole[2];
  if (is_slice) return true;
  if (p.is_expert) return coordinate(strategy, Axis::expert_tensor, rank) == 0;
  return !p.is_divided || coordinate(strategy, Axis::tensor, rank) == 0;
}

}  // namespace

TensorBox box_of(const LocalParameter& p, StatePart part) {
  if (part == StatePart::row_squares) return p.row_squares();
  return part == StatePart::column_squares ? p.column_squares() : p.box;
}

std::vector<StateRange> answered_state(const ParameterLayout& layout, const Strategy& strategy,
                                       const Training& training, std::int32_t rank) {
  return ranges(
      layout, training,
      [&](const LocalParameter& p) {
        if (!answers_for(strategy, p, rank)) return ElementRange{};
        return own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
      },
      [&](const LocalParameter& p, StatePart part) { return answers_for_squares(layout, strategy, p, part, rank); });
}

std::vector<StateRange> held_state(const ParameterLayout& layout, const Strategy& strategy, const Training& training) {
  return ranges(
      layout, training,
      [&](const LocalParameter& p) {
        if (strategy.zero_stage < 3) return ElementRange{0, p.elements()};
        return own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
      },
      [](const LocalParameter&, StatePart) { return true; });
}

}  // namespace plumbline
