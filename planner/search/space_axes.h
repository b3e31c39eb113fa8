#pragma once
/// \file space_axes.h: the axes that a search can be told to keep to some values of, and what a space says of each.
///
/// Checked against: tests/unit/planner/search/space_test.cpp (--fix),
/// tests/unit/planner/session/search/around_test.cpp.

#include <string>
#include <vector>

#include "core/plan/strategy_axes.h"
#include "planner/search/space.h"

namespace plumbline {

/// One list of a SearchSpace and the axis of the strategy whose values it holds.
struct SpaceAxis {
  const StrategyAxis* axis = nullptr;
  bool (*is_fixed)(const SearchSpace&) = nullptr;
  void (*copy)(const SearchSpace& from, SearchSpace& to) = nullptr;
  /// One value more: that of the strategy.
  void (*add)(SearchSpace&, const Strategy&) = nullptr;
  /// Whether the strategy's value is among those that are fixed, or the axis is free.
  bool (*allows)(const SearchSpace&, const Strategy&) = nullptr;
  /// The fixed values, in a strategy each.
  std::vector<Strategy> (*values)(const SearchSpace&) = nullptr;

  /// "tp", "1|2".
  [[nodiscard]] std::string name() const { return std::string(axis->word()); }
  [[nodiscard]] std::string values_text(const SearchSpace& space) const;
};

/// One for each list, in the order of strategy_axes.
[[nodiscard]] const std::vector<SpaceAxis>& all_space_axes();
/// Of these, those that --fix names.
[[nodiscard]] const std::vector<SpaceAxis>& space_axes();

}  // namespace plumbline
