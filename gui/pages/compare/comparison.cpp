#include "gui/pages/compare/comparison.h"

#include <algorithm>

#include "gui/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_tables.h"

namespace plumbline::gui {
namespace {

QColor cause_colour(const Palette& palette, int kind) { return palette.of(static_cast<TimeCause>(kind)); }
QColor class_colour(const Palette& palette, int kind) { return palette.of(static_cast<MemoryClass>(kind)); }

using Cells = std::vector<present::Cell>;
constexpr std::size_t of_one = 1, of_other = 2;  // columns of present::difference_table

/// The row of `what`; a new one stands behind the row that came before it in its own table.
Cells& row_of(present::Table& table, const present::Cell& what, std::size_t& place, std::size_t plans) {
  const auto same = std::find_if(table.rows.begin(), table.rows.end(),
                                 [&](const Cells& row) { return row.front().text == what.text; });
  if (same != table.rows.end()) {
    place = static_cast<std::size_t>(same - table.rows.begin()) + 1;
    return *same;
  }
  Cells row(plans + 1);
  row.front() = what;
  const auto made = table.rows.insert(table.rows.begin() + static_cast<std::ptrdiff_t>(place), std::move(row));
  ++place;
  return *made;
}

/// Totals stay, their parts leave.
bool is_same_for_all(const Cells& row) {
  const bool is_part = row.front().text.starts_with("  ");
  return is_part &&
         std::all_of(row.begin() + 1, row.end(), [&](const present::Cell& c) { return c.text == row[1].text; });
}

}  // namespace

QString letter_of(std::size_t plan) {
  constexpr std::size_t letters = 26;
  return plan < letters ? QString(QChar(static_cast<char16_t>(u'A' + plan))) : QString::number(plan + 1);
}

std::vector<Bar> time_bars(const std::vector<Plan>& plans) {
  std::vector<Bar> bars;
  for (const Plan& plan : plans) {
    Bar bar{letter_of(bars.size()), {}};
    for (std::size_t i = 0; i < time_cause_count; ++i) {
      const auto cause = static_cast<TimeCause>(i);
      bar.parts.push_back({qt(present::words_of(to_text(cause))), to_seconds(plan.prediction.time[cause]).value(),
                           cause_colour, static_cast<int>(i)});
    }
    bars.push_back(std::move(bar));
  }
  return bars;
}

std::vector<Bar> memory_bars(const std::vector<Plan>& plans) {
  std::vector<Bar> bars;
  for (const Plan& plan : plans) {
    const Prediction& p = plan.prediction;
    const MemoryBreakdown& memory = p.stage_memory[static_cast<std::size_t>(p.heaviest_stage)];
    Bar bar{letter_of(bars.size()), {}, static_cast<double>(plan.verdict.capacity.value()) / present::bytes_per_gib};
    for (std::size_t i = 0; i < memory_class_count; ++i)
      bar.parts.push_back({qt(present::words_of(to_text(static_cast<MemoryClass>(i)))),
                           static_cast<double>(memory.by_class[i].value()) / present::bytes_per_gib, class_colour,
                           static_cast<int>(i)});
    bars.push_back(std::move(bar));
  }
  return bars;
}

present::Table side_by_side(const std::vector<Plan>& plans) {
  using present::Align;
  present::Table table;
  table.columns = {
      {"what", "choice or figure", present::Unit::text, "what the plans choose and what is predicted", Align::left}};
  for (std::size_t i = 0; i < plans.size(); ++i)
    table.columns.push_back(
        {"plan" + std::to_string(i), letter_of(i).toStdString(), present::Unit::text, "of this plan", Align::right});
  for (std::size_t i = 1; i < plans.size(); ++i) {
    std::size_t place = 0;
    for (const Cells& cells : present::difference_table(plans.front(), plans[i]).rows) {
      Cells& row = row_of(table, cells.front(), place, plans.size());
      row[1] = cells[of_one];
      row[i + 1] = cells[of_other];
    }
  }
  // What one of them has in common with the first is in no table of the two.
  for (Cells& row : table.rows)
    for (std::size_t i = 2; i < row.size(); ++i)
      if (row[i].text.empty()) row[i] = row[1];
  std::erase_if(table.rows, is_same_for_all);
  return table;
}

}  // namespace plumbline::gui
