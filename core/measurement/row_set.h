#pragma once
/// \file row_set.h: the measured runs of one source, and how they are read.

#include <string>
#include <vector>

#include "core/measurement/row.h"
#include "core/measurement/row_rules.h"

namespace plumbline {

/// Rules that hold for the runs of one source alone; they come before those that hold for all.
struct SourceRules {
  std::vector<RowRule> meanings;     ///< what a run means, which contradicts its neighbours, which cannot be asked
  std::vector<RowRule> assumptions;  ///< what is taken where the source is silent; reported
};

struct RowSet {
  std::string name;
  std::vector<MeasuredRow> rows;
  SourceRules rules = {};
};

}  // namespace plumbline
