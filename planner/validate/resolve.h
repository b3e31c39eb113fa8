#pragma once
/// \file resolve.h: a run's question as the question and strategy that this program prices.
///
/// Answers nothing itself: it turns published words into a network, a machine, a recipe and a strategy. Spellings are
/// understood and unpublished fields filled by rules, those of the source itself first (run_set.h), then those that
/// hold for all (models/run_rules/*.json); every assumed field is reported. It is given a RunQuestion, which holds
/// nothing that was measured. Checked against: tests/unit/planner/validate/resolve_test.cpp, one run of each source
/// worked by hand.

#include "core/measurement/run_set.h"
#include "planner/question/question.h"

namespace plumbline {

/// A run that can be priced.
struct ResolvedRun {
  RunFields fields;  ///< after the rules
  Question question;
  Strategy strategy;
  std::vector<AssumedField> assumed;
};

/// Either what can be priced, or the reason why not.
struct Resolution {
  std::optional<ResolvedRun> run;
  std::string skipped;
};

class RunResolver {
 public:
  /// Meanings say how spellings are understood; `assumptions` fills what it leaves open.
  RunResolver(std::vector<RunRuleTable> meanings, RunRuleTable assumptions)
      : meanings_(std::move(meanings)), assumptions_(std::move(assumptions)) {}
  /// `set`: of the run; its name, which rules may ask for, and its rules are read. Never throws for what a run says.
  [[nodiscard]] Resolution resolve(const RunQuestion& run, const RunSet& set) const;
  /// The fields after all rules; what a rule refuses is in `skip`.
  [[nodiscard]] RuledRun ruled(const RunQuestion& run, const RunSet& set) const;

 private:
  std::vector<RunRuleTable> meanings_;
  RunRuleTable assumptions_;
};

}  // namespace plumbline
