#pragma once
/// \file axis_row.h: how a row of strategy_axes.h is written: its kind of value, its words, its places.
///
/// Rows, with the rules that one axis decides (strategy_rule.h), are in degree_axes.cpp, pipeline_axes.cpp,
/// attention_axes.cpp, sharding_axes.cpp and recompute_axis.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/joined.h"
#include "core/plan/strategy_axes.h"
#include "core/training/limits.h"

namespace plumbline::axes {

// The row of each axis: a function that is called as the member of Strategy, with "_axis" behind it.
#define PLUMBLINE_AXIS_ROW(MEMBER, ...) [[nodiscard]] StrategyAxis MEMBER##_axis();
PLUMBLINE_STRATEGY_ROWS(PLUMBLINE_AXIS_ROW, PLUMBLINE_AXIS_ROW)
#undef PLUMBLINE_AXIS_ROW

template <auto Member>
[[nodiscard]] StrategyAxis with_values(AxisKind kind) {
  using Value = std::remove_cvref_t<decltype(Strategy{}.*Member)>;
  StrategyAxis axis;
  axis.kind = kind;
  axis.get = [](const Strategy& s) { return static_cast<std::int64_t>(s.*Member); };
  axis.set = [](Strategy& s, std::int64_t value) { s.*Member = static_cast<Value>(value); };
  return axis;
}

template <auto Member>
[[nodiscard]] StrategyAxis number_kind(std::int64_t least, std::int64_t most) {
  StrategyAxis axis = with_values<Member>(AxisKind::number);
  axis.values = "N";
  axis.least = least;
  axis.most = most;
  return axis;
}

template <auto Member>
[[nodiscard]] StrategyAxis degree_kind() {
  return number_kind<Member>(1, most_devices);
}

/// `On`: the value of the enumeration that is called so; the other one is off.
template <auto Member, auto On, auto Off>
[[nodiscard]] StrategyAxis toggle_kind() {
  StrategyAxis axis;
  axis.kind = AxisKind::toggle;
  axis.values = "on|off";
  axis.get = [](const Strategy& s) { return std::int64_t{s.*Member == On}; };
  axis.set = [](Strategy& s, std::int64_t value) { s.*Member = value == 0 ? Off : On; };
  return axis;
}

template <auto Member>
[[nodiscard]] StrategyAxis choice_kind(const auto& all) {
  StrategyAxis axis = with_values<Member>(AxisKind::choice);
  for (const auto value : all) axis.names.emplace_back(to_text(value));
  axis.values = joined(axis.names, "|");
  return axis;
}

/// See the members of StrategyAxis that are called so.
struct Words {
  const char* flag;
  const char* key;
  const char* change;
  const char* help = "";  ///< empty: the meaning with the usual value
  std::vector<std::string_view> foreign{};
  const char* meaning = "";
  const char* examples = "";
  const char* column = "";
  const char* caption = "";
  const char* in_schema = "";
};
/// Likewise; 0: no change, column or field names it.
struct Places {
  int file = 0;
  int change = 0;
  int column = 0;
  int form = 0;
};

[[nodiscard]] StrategyAxis new_row(StrategyAxis axis, const Words& words);
/// Of axes that plan files have held from the first: their keys keep the order in which they were written.
[[nodiscard]] StrategyAxis first_row(Places places, StrategyAxis axis, const Words& words);

}  // namespace plumbline::axes
