// Values of an axis as text and as numbers, and axes that are looked for.
#include <algorithm>

#include "core/base/errors.h"
#include "core/plan/strategy_axes.h"

namespace plumbline {

std::string StrategyAxis::text(const Strategy& s) const {
  switch (kind) {
    case AxisKind::number: return std::to_string(get(s));
    case AxisKind::toggle: return get(s) == 0 ? "off" : "on";
    case AxisKind::choice: return names[static_cast<std::size_t>(get(s))];
    case AxisKind::recompute: return to_text(s.recompute);
    case AxisKind::layers: return layers_text(s.layers_per_stage);
  }
  return "";
}

std::vector<std::int64_t> StrategyAxis::neighbours(const Strategy& strategy) const {
  const std::int64_t value = get(strategy);
  if (kind == AxisKind::toggle) return {1 - value};
  std::vector<std::int64_t> near;
  for (const std::int64_t one : {2 * value, value / 2})
    if (one != value && one >= least && one <= most) near.push_back(one);
  return near;
}

std::vector<const StrategyAxis*> strategy_axes_by(int StrategyAxis::*place) {
  std::vector<const StrategyAxis*> sorted;
  for (const StrategyAxis& axis : strategy_axes()) sorted.push_back(&axis);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const StrategyAxis* a, const StrategyAxis* b) { return a->*place < b->*place; });
  return sorted;
}

std::vector<const StrategyAxis*> details_of(std::string_view flag) {
  std::vector<const StrategyAxis*> details;
  for (const StrategyAxis& axis : strategy_axes())
    if (axis.detail_of == flag) details.push_back(&axis);
  return details;
}

void reset_details(std::string_view flag, Strategy& strategy) {
  for (const StrategyAxis* axis : details_of(flag)) axis->set(strategy, axis->get(Strategy{}));
}

const StrategyAxis& strategy_axis(std::string_view flag) {
  const auto found = std::find_if(strategy_axes().begin(), strategy_axes().end(),
                                  [&](const StrategyAxis& axis) { return axis.flag == flag; });
  check(found != strategy_axes().end(), "a strategy has the axis");
  return *found;
}

}  // namespace plumbline
