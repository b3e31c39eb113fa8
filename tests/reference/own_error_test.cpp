// How much of a prediction's error is a plan's own: published runs that answer one question, in-sample.

#include <cmath>
#include <map>

#include "core/cost/extrapolation.h"
#include "models/calibration_catalog.h"
#include "planner/calibrate/fit_run.h"
#include "planner/search/ties.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline {
namespace {

/// log(predicted / measured) over the standard deviation that its interval states.
struct OwnErrors {
  std::map<std::string, std::vector<double>> by_question;

  void add(const FitRun& run) {
    const Calibration calibration = CalibrationSet::shipped().of(run.device, run.stack);
    const double error = std::log(run.pricer.step_s(calibration) / run.measured_s);
    by_question[run.source + "|" + run.question].push_back(error / uncertainty(calibration, run.features).time_sigma);
  }
};

TEST_CASE("of what an interval states about a third is not shared by other plans of a question") {
  OwnErrors errors;
  for (const FitRun& run : fit_runs(rows_of_catalogue(), resolver_of_catalogue()).runs)
    if (run.trust == RunTrust::trusted) errors.add(run);
  double squares = 0;
  std::size_t freedom = 0;
  std::size_t questions = 0;
  for (const auto& [question, all] : errors.by_question) {
    if (all.size() < 2) continue;
    double mean = 0;
    for (const double one : all) mean += one / static_cast<double>(all.size());
    for (const double one : all) squares += (one - mean) * (one - mean);
    freedom += all.size() - 1;
    ++questions;
  }
  const double share = std::sqrt(squares / static_cast<double>(freedom));
  INFO(questions << " questions, " << freedom << " degrees of freedom: share " << share);
  CHECK(questions >= 30);
  CHECK(std::abs(share / own_error_share - 1) < 0.1);
}

}  // namespace
}  // namespace plumbline
