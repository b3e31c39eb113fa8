#pragma once
/// \file validate_view.h: `plan validate` as tables for people: on the terminal, and as Markdown for docs/fidelity.md.

#include <string>

#include "core/measurement/run_rules.h"
#include "planner/validate/validate.h"

namespace plumbline {

/// Tables per source, the runs that missed most, what was reported apart, how many runs were skipped for what.
[[nodiscard]] std::string validation_text(const Validation& validation);
/// One line: the keys of files of runs that nobody read, each with what it may have been meant for; the first of many.
[[nodiscard]] std::string unread_keys_text(const std::set<UnreadKey>& keys);
/// The table of assumptions, rule by rule.
[[nodiscard]] std::string rules_text(const RunRuleTable& table);

}  // namespace plumbline
