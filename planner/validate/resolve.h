#pragma once
/// \file resolve.h: a row's question as the question and strategy that this program prices.
///
/// Answers nothing itself: it turns published words into a network, a machine, a recipe and a strategy. Spellings are
/// understood by one table of aliases, unpublished fields filled from one table of assumptions (both data with sources,
/// models/calibrations/row-*.json), and every assumed field is reported.
/// It is given a RowQuestion, which holds nothing that was measured.
/// Checked against: tests/unit/planner/validate/resolve_test.cpp, one row of each source worked by hand.

#include "core/measurement/row_rules.h"
#include "planner/question/question.h"

namespace plumbline {

/// A row that can be priced.
struct ResolvedRow {
  RowFields fields;  ///< after the rules
  Question question;
  Strategy strategy;
  std::vector<AssumedField> assumed;
};

/// Either what can be priced, or the reason why not.
struct Resolution {
  std::optional<ResolvedRow> row;
  std::string skipped;
};

class RowResolver {
 public:
  /// Aliases and doubts say what a row means; `assumptions` fills what it leaves open.
  RowResolver(std::vector<RowRuleTable> meanings, RowRuleTable assumptions)
      : meanings_(std::move(meanings)), assumptions_(std::move(assumptions)) {}
  /// `rows`: the name of the row's file, which rules may ask for. Never throws for what a row says.
  [[nodiscard]] Resolution resolve(const RowQuestion& row, const std::string& rows) const;
  /// The fields after all tables; what a rule refuses is in `skip`.
  [[nodiscard]] RuledRow ruled(const RowQuestion& row, const std::string& rows) const;

 private:
  std::vector<RowRuleTable> meanings_;
  RowRuleTable assumptions_;
};

}  // namespace plumbline
