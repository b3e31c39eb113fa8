#pragma once
/// \file search_words.h: what a search looked through and refused, in sentences.
///
/// Checked against: tests/unit/planner/present/plan_words_test.cpp.

#include <string>
#include <vector>

#include "planner/session/search.h"

namespace plumbline::present {

/// "considered 1 234 = 200 illegal + ... + 17 priced".
[[nodiscard]] std::string audit_words(const SearchAudit& audit);
/// Each rule that refused plans, with how many and its sentence.
[[nodiscard]] std::vector<std::string> rejections(const SearchAudit& audit);

/// What the limits of the framework cost that was searched for; empty: none was, or it is not known.
[[nodiscard]] std::string framework_words(const session::SearchAnswer& answer);

}  // namespace plumbline::present
