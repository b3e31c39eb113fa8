#pragma once
/// \file search_cases_json.h: the best plan of every value that was asked about ("plumbline.searches/1", the contract
/// of `plan search --json` with several values); written only.
///
/// Checked against: tests/unit/planner/session/search/search_cases_test.cpp.

#include "core/io/json.h"
#include "planner/session/search/search_cases.h"

namespace plumbline::session {

inline constexpr std::string_view search_cases_format = "plumbline.searches/1";

/// A row's plan is null where there is none; its reason says why.
[[nodiscard]] Json to_json(const CasesAnswer& answer);

}  // namespace plumbline::session
