#include "cli/calibrate_view.h"

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "cli/terminal.h"
#include "core/io/stack_json.h"
#include "core/quantity/text.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

constexpr double hundred = 100;
constexpr std::size_t most_numbers = 12;

std::string percent(double share) { return (share > 0 ? "+" : "") + fixed(hundred * share, 1) + " %"; }

struct MeanErrors {
  double shipped = 0;
  double fitted = 0;
  double left_out = 0;
};

MeanErrors mean_errors(const OwnCalibration& found, const std::vector<FitRow>& rows) {
  MeanErrors mean;
  const auto n = static_cast<double>(found.rows.size());
  for (const OwnRow& row : found.rows) {
    const double measured = rows[row.row].measured_s;
    mean.shipped += std::abs(row.shipped_s / measured - 1) / n;
    mean.fitted += std::abs(row.fitted_s / measured - 1) / n;
    if (row.left_out_s > 0) mean.left_out += std::abs(row.left_out_s / measured - 1) / n;
  }
  return mean;
}

std::string rows_text(const OwnCalibration& found, const std::vector<FitRow>& rows) {
  Table table({{"row", Align::left}, {"measured"}, {"shipped"}, {"fitted"}, {"left out"}});
  for (const OwnRow& row : found.rows) {
    const double measured = rows[row.row].measured_s;
    table.add_row({rows[row.row].id, to_text(Seconds(measured)), percent(row.shipped_s / measured - 1),
                   percent(row.fitted_s / measured - 1),
                   row.left_out_s > 0 ? percent(row.left_out_s / measured - 1) : "-"});
  }
  return table.text(terminal_columns);
}

std::string number_text(double value) {
  const int digits = value == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return fixed(value, std::min(digits, 9));
}

std::string numbers_text(const OwnCalibration& found) {
  Table table({{"number", Align::left}, {"shipped"}, {"now"}, {"known to"}, {"was"}});
  for (std::size_t i = 0; i < std::min(most_numbers, found.numbers.size()); ++i) {
    const OwnNumber& n = found.numbers[i];
    table.add_row({n.path, number_text(n.before), number_text(n.after), fixed(hundred * n.sigma_after, 1) + " %",
                   fixed(hundred * n.sigma_before, 1) + " %"});
  }
  return table.text(terminal_columns);
}

}  // namespace

std::string calibration_text(const OwnCalibration& found, const std::vector<FitRow>& rows) {
  const MeanErrors mean = mean_errors(found, rows);
  std::string text = "stack \"" + found.stack.name + "\", as " + found.like + ", from " +
                     std::to_string(found.rows.size()) + " rows on " + rows.front().device.name + "\n\n" +
                     rows_text(found, rows) + "\n" + numbers_text(found) + "\n";
  text += "mean error: shipped " + fixed(hundred * mean.shipped, 1) + " %, fitted " + fixed(hundred * mean.fitted, 1) +
          " % (these rows were fitted: no prediction)";
  if (found.rows.size() > 1)
    text += ", left out " + fixed(hundred * mean.left_out, 1) + " % (" +
            (found.by_group ? "by source and model" : "row by row: one model only, so new models may be further off") +
            ")";
  const double half = std::exp(deviations_90_percent * found.sigma) - 1;
  text += "\n90 % interval of a step like these: " + fixed(hundred * half, 1) + " % up and down\n";
  for (const std::string& warning : found.warnings) text += "note: " + warning + "\n";
  return text;
}

Json to_json(const OwnCalibration& found, const std::vector<FitRow>& rows) {
  Json::Array row_list;
  for (const OwnRow& row : found.rows)
    row_list.push_back(Json::Object{{"id", rows[row.row].id},
                                    {"measured", rows[row.row].measured_s},
                                    {"shipped", row.shipped_s},
                                    {"fitted", row.fitted_s},
                                    {"left_out", row.left_out_s > 0 ? Json(row.left_out_s) : Json()}});
  Json::Array numbers;
  for (const OwnNumber& n : found.numbers)
    numbers.push_back(Json::Object{{"path", n.path},
                                   {"before", n.before},
                                   {"after", n.after},
                                   {"sigma_before", n.sigma_before},
                                   {"sigma_after", n.sigma_after}});
  Json::Array warnings(found.warnings.begin(), found.warnings.end());
  const MeanErrors mean = mean_errors(found, rows);
  return Json::Object{{"format", "plumbline.calibrated/1"},
                      {"like", found.like},
                      {"device", rows.front().device.name},
                      {"rows", std::move(row_list)},
                      {"numbers", std::move(numbers)},
                      {"mean_error", Json::Object{{"shipped", mean.shipped},
                                                  {"fitted", mean.fitted},
                                                  {"left_out", found.rows.size() > 1 ? Json(mean.left_out) : Json()}}},
                      {"left_out_by", found.by_group ? "source and model" : "row"},
                      {"sigma", found.sigma},
                      {"warnings", std::move(warnings)},
                      {"stack", software_stack_json(found.stack)}};
}

}  // namespace plumbline
