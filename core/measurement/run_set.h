#pragma once
/// \file run_set.h: the measured runs of one source, and how they are read.

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

struct RunSet {
  std::string name;
  std::vector<MeasuredRun> runs;
  SourceRules rules = {};
};

}  // namespace plumbline
