#include "planner/question/axis_text.h"

#include <algorithm>

#include "core/io/value_text.h"

namespace plumbline {
namespace {

std::int64_t place_of(std::string_view where, const std::string& text, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) refuse_choice(where, text, names);
  return found - names.begin();
}

Recompute recompute_of(std::string_view where, const std::string& text) {
  if (const auto found = recompute_from_text(text)) return *found;
  std::vector<std::string> names;
  for (const RecomputeName& name : recompute_names) names.emplace_back(name.text);
  refuse_choice(where, text, names);
}

std::vector<std::int32_t> layers_of(const StrategyAxis& axis, std::string_view where, std::string_view text) {
  std::vector<std::int32_t> counts;
  while (true) {
    const std::size_t end = text.find(',');
    const std::int64_t count = whole_number(where, std::string(text.substr(0, end)), axis.least, axis.most);
    counts.push_back(static_cast<std::int32_t>(count));
    if (end == std::string_view::npos) return counts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void read_axis(const StrategyAxis& axis, std::string_view where, const std::string& text, Strategy& strategy) {
  switch (axis.kind) {
    case AxisKind::number: axis.set(strategy, whole_number(where, text, axis.least, axis.most)); return;
    case AxisKind::toggle: axis.set(strategy, on_or_off(where, text) ? 1 : 0); return;
    case AxisKind::choice: axis.set(strategy, place_of(where, text, axis.names)); return;
    case AxisKind::recompute: strategy.recompute = recompute_of(where, text); return;
    case AxisKind::layers: strategy.layers_per_stage = layers_of(axis, where, text);
  }
}

}  // namespace plumbline
