#pragma once
/// \file rank_map_json.h: a plan with the place of each of its ranks, as `plan estimate --ranks --json`; written only.
///
/// Checked against: tests/unit/core/io/rank_map_json_test.cpp.

#include "core/io/plan_json.h"

namespace plumbline {

/// [{"rank","host","device","coordinates":{axis:number,...}},...].
[[nodiscard]] Json ranks_json(const Plan& plan);
/// The plan's object and "ranks".
[[nodiscard]] Json plan_with_ranks_json(const Plan& plan);

}  // namespace plumbline
