// docs/glossary.md is written from the columns of tables, the rules of legality and the terms; it names all of them.

#include "core/plan/legality.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/present/catalogue_tables.h"
#include "planner/present/glossary.h"
#include "planner/present/numbers.h"
#include "planner/present/peak_tables.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_tables.h"
#include "planner/session/compare/compare.h"
#include "planner/session/validate/validate.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"
#include "tests/sample_plan.h"

namespace plumbline {
namespace {

using present::Column;
using present::Table;
using present::Unit;

std::string row(const Column& column) {
  const bool has_unit = column.unit != Unit::text && column.unit != Unit::number;
  return "| " + column.title + " | " + (has_unit ? std::string(present::unit_text(column.unit)) : "") + " | " +
         column.explanation + " |\n";
}

std::string heading(const std::string& title) { return "\n## " + title + "\n\n"; }

std::string section(const std::string& title, const Table& table) {
  std::string text = heading(title) + "| column | unit | meaning |\n|---|---|---|\n";
  for (const Column& column : table.columns) text += row(column);
  return text;
}

template <class Row>
Table all_of(const std::vector<present::ColumnOf<Row>>& columns) {
  Table table;
  for (const present::ColumnOf<Row>& one : columns) table.columns.push_back(one.column);
  return table;
}

/// With what only some rankings show.
Table ranking() {
  Table table = all_of(present::plan_columns());
  const Table numbered = present::plan_table({sample_plan()}, {1});
  table.columns.insert(table.columns.begin(), numbered.columns.front());
  table.columns.push_back(numbered.columns.back());
  return table;
}

std::string terms() {
  std::string text = heading("Terms") + "| term | meaning |\n|---|---|\n";
  for (const present::Term& term : present::terms()) text += "| " + term.name + " | " + term.meaning + " |\n";
  return text;
}

template <class Word>
std::string meanings(const std::string& title, std::size_t count) {
  std::string text = heading(title) + "| | meaning |\n|---|---|\n";
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = static_cast<Word>(i);
    text += "| " + present::words_of(to_text(word)) + " | " + std::string(present::meaning(word)) + " |\n";
  }
  return text;
}

std::string rules() {
  std::string text = heading("Rules") +
                     "A plan that breaks one is refused, and a search counts how many each rule refused.\n\n"
                     "| rule | asks that |\n|---|---|\n";
  for (const LegalityRule& rule : legality_rules())
    text += "| " + std::string(rule.id) + " | " + std::string(rule.sentence) + " |\n";
  return text;
}

std::string tables_of_plans() {
  const Plan plan = sample_plan();
  return section("A ranking: `plan search`", ranking()) +
         section("Time against memory: `plan search --pareto`", all_of(present::front_columns())) +
         section("Where the step goes: `plan estimate`", present::time_table(plan.prediction.time)) +
         meanings<TimeCause>("Causes of time", time_cause_count) +
         meanings<MemoryClass>("Classes of memory", memory_class_count) +
         section("Recompute and uneven stages: `plan estimate`", present::replay_table(plan.layout)) +
         section("One change: `plan fit`, `plan explain`", present::change_table(plan, {})) +
         section("Numbers that nobody measured: `plan explain`", present::assumed_table({})) +
         section("Two plans: `plan explain --against`", present::difference_table(plan, plan)) +
         section("Ranks: `plan estimate --ranks`", present::rank_table(plan)) +
         section("The peak: `plan simulate`", present::largest_buffer_table({}));
}

std::string other_tables() {
  const Comparison comparison;
  const Validation validation;
  return section("Actions: `plan compare`", present::action_table(comparison)) +
         section("Memory: `plan compare`", present::compared_memory_table(comparison)) +
         section("Communication: `plan compare`", present::sent_table(comparison)) +
         section("Errors by source: `plan validate`",
                 present::series_table(validation, "source", &ValidationSummary::time)) +
         section("The furthest off: `plan validate`", present::furthest_table(validation)) +
         section("Networks: `plan models`", present::network_table()) +
         section("One network: `plan models NAME`", present::block_table(find_network("gpt2"))) +
         section("Machines: `plan machines`", present::machine_table()) +
         section("Software stacks: `plan stacks`", present::stack_table());
}

TEST_CASE("the glossary says what columns, rules and terms say") {
  const std::string page =
      "# Glossary\n\n"
      "Every column that `plan` shows, every rule and the words between them. Written from the program by "
      "`scripts/regenerate_golden.sh`; do not edit.\n" +
      terms() + tables_of_plans() + rules() + other_tables();
  CHECK(page == golden_text("../../docs/glossary.md", page));
}

}  // namespace
}  // namespace plumbline
