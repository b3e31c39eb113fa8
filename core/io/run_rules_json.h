#pragma once
/// \file run_rules_json.h: plumbline.row_rules/1: tables of aliases and assumptions for runs, read strictly.

#include "core/io/json.h"
#include "core/measurement/run_rules.h"

namespace plumbline {

/// Both throw InputError naming the rule and key that is wrong.
[[nodiscard]] RunRule row_rule_from_json(const JsonPlace& place);
[[nodiscard]] RunRuleTable run_rules_from_json(const JsonPlace& document);

}  // namespace plumbline
