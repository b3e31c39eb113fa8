#pragma once
/// \file cross_validation_json.h: what `plan calibrate --cross-validate` found, run by run
/// ("plumbline.cross_validation/1").

#include "core/io/json.h"
#include "planner/calibrate/left_out_sources.h"
#include "planner/calibrate/ranking.h"
#include "planner/calibrate/shipped_fit.h"

namespace plumbline {

struct CrossValidationAnswer {
  std::vector<FitRun> runs;  ///< with those that were read anew (left_out_sources.h) behind them
  std::vector<SkippedRun> skipped;
  std::vector<FittedNumber> numbers;
  std::vector<double> fitted_s;  ///< by run: predicted by the fit over all runs
  std::vector<TestedRun> tested;
  std::vector<LeftOutStack> stacks;
  LeftOutSources sources;
  std::vector<RankedQuestion> questions;
  bool complete = true;
};

[[nodiscard]] Json to_json(const CrossValidationAnswer& answer);

}  // namespace plumbline
