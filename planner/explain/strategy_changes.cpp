#include "planner/explain/strategy_changes.h"

#include "core/plan/strategy_axes.h"

namespace plumbline {
namespace {

/// Sequence parallelism that comes with the first tensor-parallel ranks: two changes of tp may differ in it alone.
bool is_choice_of_first_tensor_ranks(const StrategyChange& one) {
  return one.choice == "sequence parallelism" && one.after == "on";
}

}  // namespace

std::vector<StrategyChange> changes_between(const Strategy& before, const Strategy& after) {
  std::vector<StrategyChange> found;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::change_place)) {
    if (axis->change.empty()) continue;
    const auto text = [&](const Strategy& s) { return axis->change_text ? axis->change_text(s) : axis->text(s); };
    const bool follows = axis->follows != nullptr && axis->follows(before, after);
    if (text(before) != text(after)) found.push_back({axis->change, text(before), text(after), follows});
  }
  return found;
}

std::string to_text(const std::vector<StrategyChange>& changes) {
  std::string text;
  for (const StrategyChange& one : changes)
    text += (text.empty() ? "" : ", ") + one.choice + " " + one.before + " -> " + one.after;
  return text;
}

std::vector<std::string> chosen_steps(const std::vector<StrategyChange>& changes) {
  std::vector<std::string> steps;
  for (const StrategyChange& one : changes)
    if (!one.follows)
      steps.push_back(one.choice + " " + one.before + " -> " + one.after);
    else if (is_choice_of_first_tensor_ranks(one) && !steps.empty())
      steps.back() += " with sequence parallelism";
  return steps;
}

}  // namespace plumbline
