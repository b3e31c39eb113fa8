#pragma once
/// \file search_words.h: what a search looked through and refused, in sentences.
///
/// Checked against: tests/unit/planner/present/plan_words_test.cpp.

#include <string>
#include <vector>

#include "planner/search/search.h"

namespace plumbline::present {

/// "considered 1 234 = 200 illegal + ... + 17 priced".
[[nodiscard]] std::string audit_words(const SearchAudit& audit);
/// Each rule that refused plans, with how many and its sentence.
[[nodiscard]] std::vector<std::string> rejections(const SearchAudit& audit);

}  // namespace plumbline::present
