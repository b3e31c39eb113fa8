#pragma once
/// \file search_flags.h: what a search looks at and ranks, as the texts of its flags, refused in the same words by
/// whoever asks.
///
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp.

#include <optional>
#include <string>

#include "core/base/option.h"
#include "core/quantity/quantity.h"
#include "planner/session/search/search.h"

namespace plumbline::session {

struct SearchFlags {
  std::optional<std::string> fixes, flash_attention, framework, split, threads, time_limit, objective, top;
  bool executable = false, all = false, pareto = false;

  /// Writes what was given into a request. Throws InputError naming the flag.
  void apply(SearchRequest& request) const;
  [[nodiscard]] std::optional<Seconds> limit() const;

 private:
  [[nodiscard]] std::optional<Framework> asked_framework() const;
};

/// Which plans are looked at, how long, on what.
[[nodiscard]] const Options<SearchFlags>& search_options();
/// What is best of what was looked at.
[[nodiscard]] const Options<SearchFlags>& ranking_options();

}  // namespace plumbline::session
