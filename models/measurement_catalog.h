#pragma once
/// \file measurement_catalog.h: the published measurements that ship with this program, and the rules that read rows.

#include <string_view>
#include <vector>

#include "core/measurement/row.h"
#include "core/measurement/row_rules.h"

namespace plumbline {

/// models/measurements, sorted by file name.
[[nodiscard]] std::vector<RowSet> published_rows();

/// How spellings are understood; which rows contradict their neighbours; what is taken where nothing was published.
[[nodiscard]] RowRuleTable row_aliases();
[[nodiscard]] RowRuleTable row_doubts();
[[nodiscard]] RowRuleTable row_assumptions();

}  // namespace plumbline
