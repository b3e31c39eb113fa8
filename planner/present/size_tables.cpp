#include "planner/present/size_tables.h"

#include <cmath>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"

namespace plumbline::present {
namespace {

using session::Meets;
using session::Scaling;
using session::SizeAnswer;
using session::SizeRow;
using SizeCells = const SizeRow&;

constexpr double thousand = 1000;  // kWh of an MWh, kg of a tonne

std::vector<SizeRow> rows_of(const SizeAnswer& answer, Scaling scaling, bool fitting_alone) {
  std::vector<SizeRow> rows;
  for (SizeCells row : answer.rows)
    if (row.scaling == scaling && (row.plan || !fitting_alone)) rows.push_back(row);
  return rows;
}

/// Four significant digits at most.
std::string days_text(double days) { return fixed(days, days < 10 ? 2 : days < 100 ? 1 : 0); }

Cell step_cell(SizeCells row) {
  const int digits = row.step_s.expected >= 10 ? 2 : 3;
  return {fixed(row.step_s.expected, digits) + " (" + fixed(row.step_s.low, digits - 1) + "-" +
              fixed(row.step_s.high, digits - 1) + ")",
          row.step_s.expected};
}

Cell days_cell(SizeCells row) {
  const Interval& days = row.bill.days;
  const char* mark = row.meets == Meets::surely ? " **" : row.meets == Meets::expected ? " *" : "";
  return {days_text(days.expected) + " (" + days_text(days.low) + "-" + days_text(days.high) + ")" + mark,
          days.expected};
}

Cell dollars_cell(SizeCells row) {
  if (!row.bill.dollars) return {"", std::nullopt};
  return {grouped(std::llround(row.bill.dollars->value())), row.bill.dollars->value()};
}

Cell throughput_cell(SizeCells row) { return {grouped(std::llround(row.tokens_per_second)), row.tokens_per_second}; }

Cell thousandth_cell(double amount) {
  const double value = amount / thousand;
  return decimal(value, value < 1 ? 3 : value < 100 ? 1 : 0);
}

const std::vector<ColumnOf<SizeRow>>& size_columns() {
  static const std::vector<ColumnOf<SizeRow>> columns{
      {{"devices", "GPUs", Unit::number, "GPUs of the run"}, [](SizeCells r) { return whole(r.devices); }},
      {{"global_batch", "batch", Unit::number, "sequences of one optimizer step"},
       [](SizeCells r) { return whole(r.global_batch); },
       nullptr,
       Shown::if_rows_differ},
      {{"step_time", "step s (interval)", Unit::seconds, "step time of the best plan; nine of ten runs lie between",
        left},
       step_cell},
      {{"throughput", "tok/s", Unit::tokens_per_second, "tokens per second on all GPUs"}, throughput_cell},
      {{"mfu", "MFU%", Unit::per_cent, "model FLOPs of the step over what the GPUs could do in its time"},
       [](SizeCells r) { return decimal(100 * r.mfu, 1); }},
      {{"efficiency", "eff%", Unit::per_cent, "throughput of each GPU over the most that any row of the table has"},
       [](SizeCells r) { return decimal(100 * r.efficiency, 1); }},
      {{"days", "days (interval)", Unit::number,
        "of the whole run; * within the limits as expected, ** at the upper end too", left},
       days_cell},
      {{"dollars", "$", Unit::number, "GPU-hours times the price"},
       dollars_cell,
       [](SizeCells r) { return r.bill.dollars.has_value(); }},
      {{"energy", "MWh", Unit::number, "energy of the site, with every device and host at its power limit"},
       [](SizeCells r) { return thousandth_cell(r.bill.energy_kwh); }},
      {{"co2", "t CO2", Unit::number, "CO2 equivalent by the grid's intensity"},
       [](SizeCells r) { return thousandth_cell(r.bill.co2_kg); }}};
  return columns;
}

std::string limits_text(const session::RunLimits& limits) {
  std::string text;
  if (limits.days) text = days_text(*limits.days) + " days";
  if (limits.budget) text += (text.empty() ? "" : " and ") + dollars_text(limits.budget->value());
  return text;
}

/// "59 875", and small amounts as "0.37".
std::string amount_text(double amount) { return amount < 10 ? fixed(amount, 2) : grouped(std::llround(amount)); }

std::string run_text(SizeCells row) {
  std::string text = days_text(row.bill.days.expected) + " days";
  if (row.bill.dollars) text += ", " + dollars_text(row.bill.dollars->value());
  return text + ", " + amount_text(row.bill.energy_kwh) + " kWh, " + amount_text(row.bill.co2_kg) + " kg CO2";
}

template <class T>
std::string assumption(const std::string& what, const Sourced<T>& number) {
  return what + " (" + number.source + (number.kind == SourceKind::assumed ? ", assumed" : "") + ")";
}

}  // namespace

std::string size_question_words(const SizeAnswer& answer) {
  for (SizeCells row : answer.rows) {
    if (!row.plan) continue;
    const Plan& plan = *row.plan;
    const Training& t = plan.training;
    return plan.model.name + " (" + count_text(plan.model.parameters) + " parameters) on " +
           (plan.machine.mixture.empty() ? plan.machine.device : plan.machine.mixture) + " (" + plan.machine.name +
           "), sequence " + std::to_string(t.sequence_length) + ", " + count_text(t.token_budget.value_or(0)) +
           " tokens";
  }
  return "";
}

std::string scaling_words(const SizeAnswer& answer, Scaling scaling) {
  const std::vector<SizeRow> rows = rows_of(answer, scaling, false);
  if (rows.empty()) return "";
  if (scaling == Scaling::strong)
    return "Strong scaling: global batch " + std::to_string(rows.front().global_batch) + " on any number of GPUs";
  return "Weak scaling: " +
         fixed(static_cast<double>(rows.front().global_batch) / static_cast<double>(rows.front().devices), 2) +
         " sequences on each GPU; a larger batch may need more tokens for the same loss";
}

Table size_table(const SizeAnswer& answer, Scaling scaling) {
  return table_of(size_columns(), rows_of(answer, scaling, true));
}

Table size_plan_table(const SizeAnswer& answer, Scaling scaling) {
  static const std::vector<ColumnOf<SizeRow>> columns{
      {{"devices", "GPUs", Unit::number, "GPUs of the run"}, [](SizeCells r) { return whole(r.devices); }},
      {{"margin", "GiB left", Unit::gibibytes,
        "memory left on the GPU of the heaviest rank; ! where that is within the uncertainty of the estimate"},
       [](SizeCells r) {
         if (!r.plan) return words("");
         Cell cell = gib_cell(r.plan->verdict.margin);
         if (r.plan->verdict.near_edge) cell.text += "!";
         return cell;
       }},
      {{"plan", "best plan", Unit::text, "degrees, schedule, sharding, recompute; or why nothing fits", Align::left},
       [](SizeCells r) { return words(r.plan ? plumbline::to_text(r.plan->strategy) : r.reason); }}};
  return table_of(columns, rows_of(answer, scaling, false));
}

std::string size_answer_words(const SizeAnswer& answer) {
  const session::RunLimits& limits = answer.request.limits;
  if (!limits.any()) return "";
  if (answer.least) {
    SizeCells row = answer.rows[*answer.least];
    return "The least GPUs within " + limits_text(limits) + ": " + std::to_string(row.devices) + ", " + run_text(row) +
           (row.meets == Meets::surely ? "." : "; at the upper end of the interval they are exceeded.");
  }
  if (!answer.nearest) return "";
  SizeCells row = answer.rows[*answer.nearest];
  return "No number of GPUs here is within " + limits_text(limits) + "; nearest: " + std::to_string(row.devices) +
         ", " + run_text(row) + ".";
}

std::vector<std::string> size_assumptions(const SizeAnswer& answer) {
  std::vector<std::string> all;
  if (const auto& price = answer.terms.price_per_device_hour)
    all.push_back(assumption("$" + fixed(price->value.value(), 2) + " per GPU-hour", *price));
  all.push_back(assumption(fixed(answer.power.device.value.value(), 0) + " W a GPU", answer.power.device));
  all.push_back(assumption(fixed(answer.power.host.value.value(), 0) + " W the rest of a node", answer.power.host));
  const Facility& facility = answer.terms.facility;
  all.push_back(
      assumption("PUE " + fixed(facility.power_usage_effectiveness.value, 2), facility.power_usage_effectiveness));
  all.push_back(
      assumption(fixed(facility.grid_grams_per_kwh.value, 0) + " g CO2 per kWh", facility.grid_grams_per_kwh));
  return all;
}

}  // namespace plumbline::present
