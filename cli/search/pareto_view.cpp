// The front of step time and peak memory: a table, and the same points on a plane of characters.
#include <algorithm>
#include <cmath>

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/search/search_view.h"
#include "core/quantity/text.h"
#include "planner/present/plan_columns.h"

namespace plumbline {
namespace {

constexpr std::size_t front_columns_shown = 72;
constexpr std::size_t front_rows_shown = 12;

struct FrontRange {
  double low;
  double high;
  /// Which of `cells` a value falls into, on a logarithmic scale. Values are positive.
  [[nodiscard]] std::size_t cell(double value, std::size_t cells) const {
    const double span = high > low ? std::log(value / low) / std::log(high / low) : 0;
    return static_cast<std::size_t>(std::lround(span * static_cast<double>(cells - 1)));
  }
};

template <class ValueOf>
FrontRange front_range(const std::vector<RankedStrategy>& front, const ValueOf& value_of) {
  FrontRange range{value_of(front.front()), value_of(front.front())};
  for (const RankedStrategy& point : front) {
    range.low = std::min(range.low, value_of(point));
    range.high = std::max(range.high, value_of(point));
  }
  return range;
}

double step_of(const RankedStrategy& point) { return to_seconds(point.ranking_step()).value(); }
double memory_of(const RankedStrategy& point) { return static_cast<double>(point.peak_memory.value()); }

/// The points that save memory worth a line, the first and the last among them.
std::vector<RankedStrategy> steps_of(const std::vector<RankedStrategy>& front) {
  constexpr double worth_a_line = 0.95;
  std::vector<RankedStrategy> shown;
  for (const RankedStrategy& point : front)
    if (shown.empty() || &point == &front.back() || memory_of(point) <= worth_a_line * memory_of(shown.back()))
      shown.push_back(point);
  return shown;
}

std::string plot(const std::vector<RankedStrategy>& front) {
  const FrontRange steps = front_range(front, step_of);
  const FrontRange memory = front_range(front, memory_of);
  std::vector<std::string> rows(front_rows_shown, std::string(front_columns_shown, ' '));
  for (const RankedStrategy& point : front)
    rows[front_rows_shown - 1 - memory.cell(memory_of(point), front_rows_shown)]
        [steps.cell(step_of(point), front_columns_shown)] = 'o';
  const auto label = [&](std::size_t row) {
    if (row == 0) return gib_text(Bytes(static_cast<std::int64_t>(memory.high)));
    if (row + 1 == front_rows_shown) return gib_text(Bytes(static_cast<std::int64_t>(memory.low)));
    return std::string();
  };
  std::string text = "peak GiB\n";
  for (std::size_t row = 0; row < front_rows_shown; ++row) {
    std::string line =
        std::string(8 - std::min<std::size_t>(8, label(row).size()), ' ') + label(row) + " |" + rows[row];
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += std::string(9, ' ') + "+" + std::string(front_columns_shown, '-') + "\n";
  const std::string low = fixed(steps.low, 2) + " s";
  const std::string high = fixed(steps.high, 2) + " s";
  return text + std::string(10, ' ') + low +
         std::string(front_columns_shown - std::min(front_columns_shown, low.size() + high.size()), ' ') + high +
         " a step\n";
}

}  // namespace

std::string pareto_text(const std::vector<RankedStrategy>& front) {
  if (front.empty()) return "";
  const std::vector<RankedStrategy> shown = steps_of(front);
  std::string all = "No plan is both faster and smaller than one of these:\n" + text(present::front_table(shown));
  if (shown.size() < front.size())
    all += std::to_string(front.size() - shown.size()) + " points between them are in --json\n";
  return all + "\n" + plot(front);
}

}  // namespace plumbline
