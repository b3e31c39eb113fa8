#pragma once
/// \file strategy_axes.h: the choices of a strategy, one row each: what an axis is called, its values, where it counts.
///
/// Flags with their checks and help, --fix, plan files and their schema, commands, Python's arguments, columns of
/// tables, fields of the window, rules of legality and the words for a change are loops over the rows, so that a new
/// axis is a member of Strategy, its entry in PLUMBLINE_STRATEGY_ROWS, its row (axis_row.h), and what prices,
/// lowers and executes it. The inner loop of a search reads Strategy. Checked
/// against: tests/unit/core/plan/strategy_axes_test.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/strategy.h"
#include "core/plan/strategy_rule.h"

namespace plumbline {

/// How the value of an axis is written: a whole number; on or off; one of several names; a recompute; a number of
/// layers for each pipeline chunk.
enum class AxisKind : std::uint8_t { number, toggle, choice, recompute, layers };

/// When a plan file holds the key of an axis. Readers of `always` and `where_unusual` take the usual value where it is
/// absent.
enum class InFiles : std::uint8_t { required, always, where_unusual };

/// The values of an axis that a search looks at. `listed`: those that are fixed for it, where it means something given
/// the degrees or, of a detail, how states are shared; where none are, the usual one. `by_rule`: as space.cpp says.
enum class InSearch : std::uint8_t { listed, by_rule };

/// When a table of plans has a column of an axis: always, where some plan has an unusual value, or where plans differ.
enum class InTables : std::uint8_t { always, where_unusual, where_different };

struct StrategyAxis {
  std::string flag;                       ///< "--tp"; empty: follows from the question
  std::string key;                        ///< of plan files, "tensor_parallel"
  std::string change;                     ///< what a sentence about a change calls it; empty: another axis says it too
  std::string values;                     ///< as help shows them: "N", "on|off"
  std::string help;                       ///< of the flag, with what an absent one means
  std::vector<std::string_view> foreign;  ///< flags of other programs that mean it
  std::string meaning;                    ///< a phrase, "tensor-parallel ranks"
  std::string examples;                   ///< behind it where somebody types a value: ", 0 to 3"; or empty
  std::string column;                     ///< title in tables of plans, "tp"; empty: no column
  std::string caption;                    ///< of the window's field, "TP"; empty: no field
  std::string in_schema;                  ///< of the key, where key and limits do not say it all
  AxisKind kind = AxisKind::number;
  std::int64_t least = 1;  ///< of a number, or of each of the layers
  std::int64_t most = 1;
  std::vector<std::string> names;  ///< of a choice, in the order of its values
  /// Of Strategy, and what a search prices it in, where an AXIS of PLUMBLINE_STRATEGY_ROWS; else empty.
  std::string_view member;
  PricedIn priced_in = PricedIn::plans;
  InSearch in_search = InSearch::listed;
  /// The question says it, and no --fix of a search.
  bool is_of_question = false;

  /// The number, 1 for on, or the place of a choice among its names. Of a recompute and layers: none.
  std::int64_t (*get)(const Strategy&) = nullptr;
  void (*set)(Strategy&, std::int64_t) = nullptr;

  InFiles in_files = InFiles::where_unusual;
  InTables in_tables = InTables::where_different;
  /// What was written before keeps its order: of keys in plan files, of a plan's changes, of columns, of fields. New
  /// axes come last.
  int file_place = last_place;
  int change_place = last_place;
  int column_place = last_place;
  int form_place = last_place;
  /// Whether the value means anything in a strategy; where not it is the usual one. Null: always.
  bool (*applies)(const Strategy&) = nullptr;
  /// Whether a search that lists the value takes it with the strategy's other values. Null: always.
  bool (*goes_with)(const Strategy&) = nullptr;
  /// The values that a refinement of a search tries (planner/search/variants.h). Null: of a detail its neighbours, of
  /// others none.
  std::vector<std::int64_t> (*refined)(const Strategy&) = nullptr;
  /// The flag of the axis that it is a detail of: chosen with it, usual again when that changes. Empty: of none.
  std::string_view detail_of;
  /// Of a detail: the words for an unusual value in a line about the strategy.
  std::string (*summary)(const Strategy&) = nullptr;
  /// Whether searches and explanations try other values where nobody named one.
  Considered considered = Considered::always;
  /// Whether a change of it goes without saying, given the others. Null: never.
  bool (*follows)(const Strategy& before, const Strategy& after) = nullptr;
  /// What of legality it alone decides, given what it goes with (core/plan/legality.h).
  std::vector<StrategyRule> rules;
  /// The value in a sentence about a change, where that is not `text`.
  std::string (*change_text)(const Strategy&) = nullptr;

  static constexpr int recipe_place = 20;  ///< of precisions and optimizer in plan files
  static constexpr int last_place = 100;

  /// As a flag and a plan file spell the value: "8", "on", "1f1b", "6,7,6".
  [[nodiscard]] std::string text(const Strategy& strategy) const;
  /// Whether it is what an empty Strategy has.
  [[nodiscard]] bool is_usual(const Strategy& strategy) const { return text(strategy) == text(Strategy{}); }
  [[nodiscard]] bool means_something(const Strategy& strategy) const { return applies == nullptr || applies(strategy); }
  /// The values one step away, of numbers and toggles: twice and half as many, or the other one.
  [[nodiscard]] std::vector<std::int64_t> neighbours(const Strategy& strategy) const;
  /// The flag without its dashes, as --fix and tables of changes spell it.
  [[nodiscard]] std::string_view word() const { return std::string_view(flag).substr(flag.empty() ? 0 : 2); }
};

/// In the order of PLUMBLINE_STRATEGY_ROWS.
[[nodiscard]] const std::vector<StrategyAxis>& strategy_axes();
/// By the place that a member names, such as `&StrategyAxis::file_place`.
[[nodiscard]] std::vector<const StrategyAxis*> strategy_axes_by(int StrategyAxis::*place);
/// The axes that are details of the axis with this flag.
[[nodiscard]] std::vector<const StrategyAxis*> details_of(std::string_view flag);
/// Sets the details of that axis to their usual values.
void reset_details(std::string_view flag, Strategy& strategy);
/// The axis of a flag, dashes included. It must be one of them.
[[nodiscard]] const StrategyAxis& strategy_axis(std::string_view flag);

}  // namespace plumbline
