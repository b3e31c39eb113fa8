#pragma once
/// \file priced_values.h: the values of a strategy by what of a price is made once for all that have them.
///
/// Answers keys of tables: strategies with equal ones share an entry. Model: PLUMBLINE_STRATEGY_AXES (strategy.h) says
/// of each axis where it is priced. Not modelled: axes of which a table takes only a part, such as the placement of a
/// schedule; its key adds them. Checked against: tests/unit/core/plan/strategy_axes_test.cpp.

#include <tuple>

#include "core/plan/strategy.h"

namespace plumbline {

template <PricedIn Wanted, PricedIn Is, class Value>
[[nodiscard]] constexpr auto tie_if_priced(Value& value) {
  if constexpr (Wanted == Is)
    return std::tie(value);
  else
    return std::tuple<>();
}

/// The members themselves, in the order of PLUMBLINE_STRATEGY_AXES.
template <PricedIn Where, class StrategyOrConst>
[[nodiscard]] constexpr auto members_priced_in(StrategyOrConst& s) {
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) tie_if_priced<Where, PricedIn::PRICED_IN>(s.MEMBER),
  return std::tuple_cat(PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS) std::tuple<>());
#undef PLUMBLINE_AXIS
}

/// Copies of them.
template <PricedIn Where>
[[nodiscard]] constexpr auto values_priced_in(const Strategy& s) {
  return std::apply([](const auto&... values) { return std::tuple(values...); }, members_priced_in<Where>(s));
}

}  // namespace plumbline
