#pragma once
/// \file run_rules.h: what to understand by a published spelling, and what to assume where nothing was published.
///
/// A rule applies when each of its conditions holds; the first rule that speaks of a field decides it. Rules are data,
/// each with its source: those that hold for one source's runs are in its file (models/measurements/*.json, "rules"),
/// those that hold for all in models/run_rules/*.json.

#include <string>
#include <utility>
#include <vector>

#include "core/measurement/measured_run.h"

namespace plumbline {

struct RunCondition {
  std::string field;
  /// Any of these, in any case; a trailing '*' stands for any ending; "" for a field that is unknown; "!X" for a
  /// field that is known and not X.
  std::vector<std::string> values;
};

struct RunRule {
  std::vector<RunCondition> when;
  std::vector<std::pair<std::string, std::string>> then;  ///< field and text; a number's text is digits
  std::string skip;                                       ///< not empty: the run cannot be asked, for this reason
  bool over_unverified = false;                           ///< also decides a field that the collector only inferred
  std::string source;
};

struct RunRuleTable {
  std::string name;
  std::string description;
  std::vector<RunRule> rules;
};

/// Fields as conditions see them: a word as it is, a number in digits, "" when unknown. `runs` is the file's name.
[[nodiscard]] std::string field_text(const RunFields& fields, std::string_view key);
[[nodiscard]] bool holds(const RunRule& rule, const RunFields& fields);

/// One field that a rule decided.
struct AssumedField {
  std::string field;
  std::string value;
  std::string source;
  bool operator==(const AssumedField&) const = default;
};

struct RuledRun {
  RunFields fields;                   ///< with what the rules added
  std::vector<AssumedField> assumed;  ///< in the order of the rules
  std::string skip;                   ///< the first reason why the run cannot be asked; empty: none
};
/// Pure. Published fields are never changed, except inferred ones by a rule that says so; nor does a rule that assumes
/// a field say what a published one is understood as ("recompute_as" of "recompute") unless the rule is about its text.
[[nodiscard]] RuledRun apply(const std::vector<RunRule>& rules, RuledRun run,
                             const std::set<std::string, std::less<>>& unverified);

}  // namespace plumbline
