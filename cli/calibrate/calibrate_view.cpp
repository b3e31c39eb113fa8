#include "cli/calibrate/calibrate_view.h"

#include <cmath>

#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "core/quantity/text.h"
#include "planner/question/question.h"
#include "planner/session/calibrate/calibrate.h"

namespace plumbline {
namespace {

constexpr double hundred = 100;

std::string errors_text(const OwnCalibration& found, const MeanErrors& mean) {
  std::string text = "mean error: shipped " + fixed(hundred * mean.shipped, 1) + " %, fitted " +
                     fixed(hundred * mean.fitted, 1) + " % (these runs were fitted: no prediction)";
  if (found.runs.size() < 2) return text;
  return text + ", left out " + fixed(hundred * mean.left_out, 1) + " % (" +
         (found.by_group ? "by source and model" : "run by run: one model only, so new models may be further off") +
         ")";
}

}  // namespace

std::string calibration_text(const OwnCalibration& found, const std::vector<FitRun>& runs) {
  std::string text = "stack \"" + found.stack.name + "\", as " + found.like + ", from " +
                     std::to_string(found.runs.size()) + " runs on " + runs.front().device.name + "\n\n" +
                     plumbline::text(present::calibrated_runs_table(found, runs)) + "\n" +
                     plumbline::text(present::calibrated_numbers_table(found)) + "\n" +
                     wrapped(errors_text(found, mean_errors(found, runs)), terminal_columns(), 2);
  const double half = std::exp(deviations_90_percent * found.sigma) - 1;
  text += "\n90 % interval of a step like these: " + fixed(hundred * half, 1) + " % up and down\n";
  for (const std::string& warning : found.warnings) text += wrapped("note: " + warning, terminal_columns(), 2) + "\n";
  return text;
}

}  // namespace plumbline
