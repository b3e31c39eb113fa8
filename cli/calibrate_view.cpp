#include "cli/calibrate_view.h"

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "cli/terminal.h"
#include "core/quantity/text.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

constexpr double hundred = 100;
constexpr std::size_t most_numbers = 12;

std::string percent(double share) { return (share > 0 ? "+" : "") + fixed(hundred * share, 1) + " %"; }

std::string rows_text(const OwnCalibration& found, const std::vector<FitRun>& runs) {
  Table table({{"run", Align::left}, {"measured"}, {"shipped"}, {"fitted"}, {"left out"}});
  for (const OwnRun& run : found.runs) {
    const double measured = runs[run.run].measured_s;
    table.add_row({runs[run.run].id, to_text(Seconds(measured)), percent(run.shipped_s / measured - 1),
                   percent(run.fitted_s / measured - 1),
                   run.left_out_s > 0 ? percent(run.left_out_s / measured - 1) : "-"});
  }
  return table.text(terminal_columns());
}

std::string number_text(double value) {
  const int digits = value == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return fixed(value, std::min(digits, 9));
}

std::string numbers_text(const OwnCalibration& found) {
  Table table({{"number", Align::left}, {"shipped"}, {"now"}, {"known to"}, {"was"}});
  for (std::size_t i = 0; i < std::min(most_numbers, found.numbers.size()); ++i) {
    const OwnNumber& n = found.numbers[i];
    table.add_row({to_text(n.id), number_text(n.before), number_text(n.after), fixed(hundred * n.sigma_after, 1) + " %",
                   fixed(hundred * n.sigma_before, 1) + " %"});
  }
  return table.text(terminal_columns());
}

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
                     rows_text(found, runs) + "\n" + numbers_text(found) + "\n" +
                     wrapped(errors_text(found, mean_errors(found, runs)), terminal_columns(), 2);
  const double half = std::exp(deviations_90_percent * found.sigma) - 1;
  text += "\n90 % interval of a step like these: " + fixed(hundred * half, 1) + " % up and down\n";
  for (const std::string& warning : found.warnings) text += wrapped("note: " + warning, terminal_columns(), 2) + "\n";
  return text;
}

}  // namespace plumbline
