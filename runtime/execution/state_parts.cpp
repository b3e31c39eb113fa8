#include "runtime/execution/state_parts.h"

#include <algorithm>

namespace plumbline {
namespace {

/// `weights(parameter)`: the elements whose weights are wanted; the optimizer's state is what the rank owns of them.
template <class Weights>
std::vector<StateRange> ranges(const ParameterLayout& layout, const Training& training, Weights weights) {
  std::vector<StateRange> result;
  const auto add = [&](std::int32_t parameter, StatePart part, ElementRange elements) {
    if (elements.count > 0) result.push_back({parameter, part, elements});
  };
  for (std::int32_t i = 0; i < std::ssize(layout.parameters); ++i) {
    const LocalParameter& p = layout.parameters[static_cast<std::size_t>(i)];
    const ElementRange wanted = weights(p);
    add(i, StatePart::weight, wanted);
    if (!p.is_trained || wanted.count == 0) continue;
    const ElementRange owned = own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
    const int moments = moments_of(p, training.optimizer);
    if (training.formats().master) add(i, StatePart::master, owned);
    if (moments > 0) add(i, StatePart::first_moment, owned);
    if (moments > 1) add(i, StatePart::second_moment, owned);
  }
  return result;
}

}  // namespace

std::vector<StateRange> answered_state(const ParameterLayout& layout, const Strategy& strategy,
                                       const Training& training, std::int32_t rank) {
  return ranges(layout, training, [&](const LocalParameter& p) {
    if (!answers_for(strategy, p, rank)) return ElementRange{};
    return own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
  });
}

std::vector<StateRange> held_state(const ParameterLayout& layout, const Strategy& strategy, const Training& training) {
  return ranges(layout, training, [&](const LocalParameter& p) {
    if (strategy.zero_stage < 3) return ElementRange{0, p.elements()};
    return own_part(p, layout.sections[static_cast<std::size_t>(p.section)]);
  });
}

}  // namespace plumbline
