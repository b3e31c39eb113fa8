#pragma once
/// \file search_json.h: what a search found ("plumbline.search/1", the contract of `plan search --json`); written only.
///
/// Checked against: tests/unit/planner/session/answers_json_test.cpp.

#include "core/io/json.h"
#include "planner/session/search/search.h"

namespace plumbline::session {

inline constexpr std::string_view search_format = "plumbline.search/1";

[[nodiscard]] Json to_json(const SearchAnswer& answer);

}  // namespace plumbline::session
