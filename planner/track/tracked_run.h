#pragma once
/// \file tracked_run.h: a run as experiment trackers keep it: what was asked, numbers by step, numbers of the whole.
///
/// Model: every number comes from the record of the run or from its plan; names are those of the program's own JSON,
/// with "predicted/" and "measured/" in front where both sides exist. Steps count from 1. Source:
/// core/measurement/run_record.h. Not modelled: the time of day of each step, which records do not hold: the run ends
/// at `end`, and its steps lie before it one behind the other. Checked against:
/// tests/unit/planner/track/tracked_run_test.cpp.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/measurement/run_record.h"
#include "core/plan/plan.h"
#include "planner/compare/compare.h"

namespace plumbline {

using Milliseconds = std::chrono::milliseconds;

struct TrackedNumber {
  std::string name;
  double value = 0;
};

struct TrackedStep {
  std::int64_t step = 1;
  Milliseconds time{0};  ///< when it ended, since 1970
  std::vector<TrackedNumber> numbers;
};

struct TrackedRun {
  std::string id;    ///< 16 hexadecimal digits; the same record that ended at the same time has the same
  std::string name;  ///< "nano-gpt, dp 2"
  Milliseconds begin{0};
  Milliseconds end{0};
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<TrackedStep> steps;
  std::vector<TrackedNumber> summary;
  std::string place = {};  ///< absolute path of the tracker's folder; empty: not known
};

/// `end`: of the run, since 1970.
[[nodiscard]] TrackedRun tracked_run(const RunRecord& record, const Plan& plan, Milliseconds end);
/// With both sides of every class of memory and kind of communication.
void add(TrackedRun& run, const Comparison& comparison);

}  // namespace plumbline
