#include "planner/session/calibrate/calibrate.h"

#include <algorithm>
#include <cmath>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

constexpr double hundred = 100;

Cell error(double predicted, double measured) {
  const double share = predicted / measured - 1;
  return {(share > 0 ? "+" : "") + fixed(hundred * share, 1) + " %", hundred * share};
}

Cell number(double value) {
  const int digits = value == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return {fixed(value, std::min(digits, 9)), value};
}

Cell known_to(double sigma) { return {fixed(hundred * sigma, 1) + " %", hundred * sigma}; }

}  // namespace

Table calibrated_runs_table(const OwnCalibration& found, const std::vector<FitRun>& runs) {
  Table table{{{"id", "run", Unit::text, "the measured run", Align::left},
               {"measured", "measured", Unit::seconds, "the step that was measured"},
               {"shipped", "shipped", Unit::per_cent, "error of what ships"},
               {"fitted", "fitted", Unit::per_cent, "error of a fit that saw the run: no prediction"},
               {"left_out", "left out", Unit::per_cent, "error of a fit that did not see it"}},
              {}};
  for (const OwnRun& run : found.runs) {
    const double measured = runs[run.run].measured_s;
    table.rows.push_back({words(runs[run.run].id),
                          {to_text(Seconds(measured)), measured},
                          error(run.shipped_s, measured),
                          error(run.fitted_s, measured),
                          run.left_out_s > 0 ? error(run.left_out_s, measured) : words("-")});
  }
  return table;
}

Table calibrated_numbers_table(const OwnCalibration& found, std::size_t most) {
  Table table{{{"path", "number", Unit::text, "a number of the software stack", Align::left},
               {"before", "shipped", Unit::number, "its value as it ships"},
               {"after", "now", Unit::number, "its value after the fit"},
               {"sigma_after", "known to", Unit::per_cent, "one standard deviation, after the fit"},
               {"sigma_before", "was", Unit::per_cent, "one standard deviation, as it ships"}},
              {}};
  for (std::size_t i = 0; i < std::min(most, found.numbers.size()); ++i) {
    const OwnNumber& n = found.numbers[i];
    table.rows.push_back(
        {words(to_text(n.id)), number(n.before), number(n.after), known_to(n.sigma_after), known_to(n.sigma_before)});
  }
  return table;
}

}  // namespace plumbline::present
