#pragma once
/// \file measurement_catalog.h: the published measurements that ship with this program, and the rules that read rows.

#include <string_view>
#include <vector>

#include "core/measurement/row_set.h"

namespace plumbline {

/// models/measurements, sorted by file name, with the rules that hold for each source alone.
[[nodiscard]] std::vector<RowSet> published_rows();

/// models/row_rules, which hold for all sources: how spellings are understood; which runs contradict their neighbours;
/// what is taken where nothing was published.
[[nodiscard]] RowRuleTable row_aliases();
[[nodiscard]] RowRuleTable row_doubts();
[[nodiscard]] RowRuleTable row_assumptions();

}  // namespace plumbline
