#pragma once
/// \file glossary.h: what the words in answers mean: causes of time, classes of memory, and terms that no column
/// explains.
///
/// Columns explain themselves (table.h) and rules too (core/plan/legality.h); docs/glossary.md joins all of them.
/// Checked against: tests/unit/planner/present/glossary_test.cpp, tests/golden/glossary_page_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/estimate.h"

namespace plumbline::present {

/// A phrase, as columns have it.
[[nodiscard]] std::string_view meaning(TimeCause cause);
[[nodiscard]] std::string_view meaning(MemoryClass memory_class);

struct Term {
  std::string name;
  std::string meaning;
};
/// In the order of the alphabet.
[[nodiscard]] const std::vector<Term>& terms();

}  // namespace plumbline::present
