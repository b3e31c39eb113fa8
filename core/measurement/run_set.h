#pragma once
/// \file run_set.h: the measured runs of one source, and how they are read.

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "core/measurement/measured_run.h"
#include "core/measurement/run_rules.h"

namespace plumbline {

/// Rules that hold for the runs of one source alone; they come before those that hold for all.
struct SourceRules {
  std::vector<RunRule> meanings;     ///< what a run means, which contradicts its neighbours, which cannot be asked
  std::vector<RunRule> assumptions;  ///< what is taken where the source is silent; reported
};

/// A key of a file that no reader asked for, such as "measured/step_tim_s", and what it may have been meant for.
struct UnreadKey {
  std::string key;
  std::string nearest;  ///< the nearest keys that are read; empty: none is near
  auto operator<=>(const UnreadKey&) const = default;
};

struct RunSet {
  std::string name;
  std::vector<MeasuredRun> runs;
  SourceRules rules = {};
  bool held_out = false;            ///< no fit reads its runs: they are predicted as runs that nobody has seen
  std::set<UnreadKey> unread = {};  ///< of an array of runs, whose unknown keys may be data of other programs
};

}  // namespace plumbline
