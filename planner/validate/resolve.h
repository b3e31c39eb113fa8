#pragma once
/// \file resolve.h: a row's question as the question and strategy that this program prices.
///
/// Answers nothing itself: it turns published words into a network, a machine, a recipe and a strategy. Spellings are
/// understood and unpublished fields filled by rules, those of the source itself first (row_set.h), then those that
/// hold for all (models/row_rules/*.json); every assumed field is reported. It is given a RowQuestion, which holds
/// nothing that was measured. Checked against: tests/unit/planner/validate/resolve_test.cpp, one row of each source
/// worked by hand.

#include "core/measurement/row_set.h"
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
  /// `set`: of the row; its name, which rules may ask for, and its rules are read. Never throws for what a row says.
  [[nodiscard]] Resolution resolve(const RowQuestion& row, const RowSet& set) const;
  /// The fields after all rules; what a rule refuses is in `skip`.
  [[nodiscard]] RuledRow ruled(const RowQuestion& row, const RowSet& set) const;

 private:
  std::vector<RowRuleTable> meanings_;
  RowRuleTable assumptions_;
};

}  // namespace plumbline
