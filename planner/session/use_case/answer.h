#pragma once
/// \file answer.h: what a use-case answers, as the parts that Python shows: JSON, tables, sentences, plans.
///
/// Made without the interpreter's lock and never changed, so that threads of Python may share it.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

struct Answer;

/// A plan that was priced; `asked` where a strategy was asked about, nothing where a search found it.
struct PricedPlan {
  Plan plan;
  std::optional<EstimateRequest> request;
  std::optional<PricedQuestion> asked;
  std::function<Answer(const PricedPlan&, const Task&)> changes = {};  ///< of a fit: what would make it fit

  /// What `plan estimate --json` prints.
  [[nodiscard]] std::string json() const;
  /// What is written to a plan file. Throws InputError where a network or machine of the plan is not here any more.
  [[nodiscard]] std::string file_text() const;
  /// What was asked, chosen and predicted, a sentence each.
  [[nodiscard]] std::vector<std::string> sentences() const;
  /// "plan" (one row), "memory" or "time".
  [[nodiscard]] present::Table table(const std::string& name) const;
};
using SharedPlan = std::shared_ptr<const PricedPlan>;

[[nodiscard]] SharedPlan shared(Plan plan);
/// With what it answers. Throws what `estimate` throws.
[[nodiscard]] SharedPlan priced(const EstimateRequest& request);

struct Answer {
  std::string json;  ///< what the verb prints with --json
  std::map<std::string, present::Table> tables;
  std::vector<std::string> sentences;
  std::string warning;  ///< on names that could also be files; or empty
  bool complete = true;
  bool found = true;  ///< false: nothing worth having before it was stopped
  std::vector<SharedPlan> plans;
  std::vector<std::string> changes;  ///< of a fit: what each plan changes
  SharedPlan nearest_miss;           ///< of a search that found nothing; or none
  std::string file_text;             ///< of a calibration: the file of its stack
};

/// A rate of images says nothing of a language model.
template <class Row>
[[nodiscard]] bool says_something(const present::ColumnOf<Row>& column, const Row& row) {
  const present::Unit unit = column.column.unit;
  const bool is_rate = unit == present::Unit::samples_per_second || unit == present::Unit::tokens_per_second;
  return !is_rate || column.matters == nullptr || column.matters(row);
}

/// Every column, whether or not its cells differ: scripts ask for columns by name.
template <class Row>
[[nodiscard]] present::Table whole_table(const std::vector<present::ColumnOf<Row>>& columns,
                                         const std::vector<Row>& rows) {
  present::Table table;
  table.rows.resize(rows.size());
  for (const present::ColumnOf<Row>& column : columns) {
    table.columns.push_back(column.column);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].push_back(says_something(column, rows[i]) ? column.cell(rows[i]) : present::Cell{""});
  }
  return table;
}

}  // namespace plumbline::session
