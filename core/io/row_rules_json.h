#pragma once
/// \file row_rules_json.h: plumbline.row_rules/1: tables of aliases and assumptions for rows, read strictly.

#include "core/io/json.h"
#include "core/measurement/row_rules.h"

namespace plumbline {

/// Both throw InputError naming the rule and key that is wrong.
[[nodiscard]] RowRule row_rule_from_json(const JsonPlace& place);
[[nodiscard]] RowRuleTable row_rules_from_json(const JsonPlace& document);

}  // namespace plumbline
