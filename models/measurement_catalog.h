#pragma once
/// \file measurement_catalog.h: the published measurements that ship with this program, and the rules that read runs.

#include <string_view>
#include <vector>

#include "core/measurement/run_set.h"

namespace plumbline {

/// models/measurements, sorted by file name, with the rules that hold for each source alone.
[[nodiscard]] std::vector<RunSet> published_runs();

/// models/run_rules, which hold for all sources: how spellings are understood; what is taken where nothing was
/// published.
[[nodiscard]] RunRuleTable run_aliases();
[[nodiscard]] RunRuleTable run_assumptions();

}  // namespace plumbline
