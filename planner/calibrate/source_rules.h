#pragma once
/// \file source_rules.h: runs of one source as they would be read had nothing been written for them.
///
/// Rules complete what a source leaves open, and some were written with its runs at hand. A source that is tested as if
/// it had never been seen is read without them: the rules of its own file, and those that hold for all sources, name a
/// framework or a release, and apply to runs of no other source. What says why a run cannot be asked, or that its
/// source contradicts itself, stays. A framework that nobody knows is one that no rule names, so its runs get the stack
/// `unknown`. Not modelled: rules that name no framework but were found with a source at hand.
/// Checked against: tests/unit/planner/calibrate/source_rules_test.cpp.

#include "core/measurement/run_set.h"

namespace plumbline {

/// The set with the rules of its own file left out.
[[nodiscard]] RunSet without_own_rules(RunSet set);
/// The table without rules that name a framework or a release and apply to runs of this source alone; what they say of
/// runs that are held out of every fit does not count.
[[nodiscard]] RunRuleTable without_rules_for(RunRuleTable table, const std::string& source,
                                             const std::vector<RunSet>& sets);
/// The set with the rules of its own file left out and a framework and releases that no rule names.
[[nodiscard]] RunSet of_unknown_framework(RunSet set);

}  // namespace plumbline
