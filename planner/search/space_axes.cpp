#include "planner/search/space_axes.h"

#include <algorithm>

namespace plumbline {
namespace {

template <auto List, auto Member>
SpaceAxis with_list(const StrategyAxis& axis) {
  return {.axis = &axis,
          .is_fixed = [](const SearchSpace& space) { return !(space.*List).empty(); },
          .copy = [](const SearchSpace& from, SearchSpace& to) { to.*List = from.*List; },
          .add = [](SearchSpace& space, const Strategy& s) { (space.*List).push_back(s.*Member); },
          .allows =
              [](const SearchSpace& space, const Strategy& s) {
                const auto& list = space.*List;
                return list.empty() || std::find(list.begin(), list.end(), s.*Member) != list.end();
              },
          .values =
              [](const SearchSpace& space) {
                std::vector<Strategy> strategies((space.*List).size());
                for (std::size_t i = 0; i < strategies.size(); ++i) strategies[i].*Member = (space.*List)[i];
                return strategies;
              }};
}

}  // namespace

std::string SpaceAxis::values_text(const SearchSpace& space) const {
  std::string text;
  for (const Strategy& one : values(space)) text += (text.empty() ? "" : "|") + axis->text(one);
  return text;
}

const std::vector<SpaceAxis>& all_space_axes() {
  static const std::vector<SpaceAxis> axes = [] {
    std::vector<SpaceAxis> all;
    for (const StrategyAxis& axis : strategy_axes()) {
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) \
  if (axis.member == #MEMBER) all.push_back(with_list<&SearchSpace::MEMBER, &Strategy::MEMBER>(axis));
      PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
    }
    return all;
  }();
  return axes;
}

const std::vector<SpaceAxis>& space_axes() {
  static const std::vector<SpaceAxis> axes = [] {
    std::vector<SpaceAxis> fixed = all_space_axes();
    std::erase_if(fixed, [](const SpaceAxis& one) { return one.axis->is_of_question; });
    return fixed;
  }();
  return axes;
}

}  // namespace plumbline
