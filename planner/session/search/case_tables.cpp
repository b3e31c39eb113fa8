#include "planner/session/search/case_tables.h"

#include <algorithm>

#include "planner/present/plan_columns.h"

namespace plumbline::present {

std::vector<Plan> plans_of(const session::CasesAnswer& answer) {
  std::vector<Plan> plans;
  for (const session::CaseAnswer& row : answer.rows)
    if (row.plan() != nullptr) plans.push_back(*row.plan());
  return plans;
}

Table case_table(const session::CasesAnswer& answer) {
  std::vector<ColumnOf<Plan>> columns = plan_columns();
  std::erase_if(columns, [&](const ColumnOf<Plan>& column) {
    return column.column.id == "devices" && !answer.rows.empty() &&
           std::any_of(answer.rows.front().values.begin(), answer.rows.front().values.end(),
                       [](const session::CaseValue& one) { return one.part == "gpus"; });
  });
  return with_values(table_of(columns, plans_of(answer)), answer);
}

Table with_values(Table table, const session::CasesAnswer& answer) {
  if (answer.rows.empty()) return table;
  for (std::size_t part = 0; part < answer.rows.front().values.size(); ++part) {
    const auto place = static_cast<std::ptrdiff_t>(part);
    const std::string& name = answer.rows.front().values[part].part;
    table.columns.insert(table.columns.begin() + place,
                         {"asked_" + name, name, Unit::text, "that was asked about", left});
    auto row = table.rows.begin();
    for (const session::CaseAnswer& one : answer.rows) {
      if (one.plan() == nullptr) continue;
      row->insert(row->begin() + place, Cell{one.values[part].value});
      ++row;
    }
  }
  return table;
}

std::vector<std::string> without_plan(const session::CasesAnswer& answer) {
  std::vector<std::string> sentences;
  for (const session::CaseAnswer& row : answer.rows)
    if (row.plan() == nullptr) sentences.push_back(session::label_of(row.values) + ": " + row.reason);
  return sentences;
}

}  // namespace plumbline::present
