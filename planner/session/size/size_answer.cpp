// The answer of a size as JSON, as tables and in sentences.
#include <cmath>

#include "core/io/json.h"
#include "core/io/plan_json.h"
#include "core/io/training_json.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"
#include "planner/session/size/size.h"

namespace plumbline::session {
namespace {

template <class T>
Json if_any(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json interval_json(const Interval& interval) {
  return Json::Object{{"low", interval.low}, {"expected", interval.expected}, {"high", interval.high}};
}

/// A number that the answer rests on.
template <class T>
Json assumption(const char* name, const char* unit, double value, const Sourced<T>& sourced) {
  return Json::Object{{"name", name},
                      {"value", value},
                      {"unit", unit},
                      {"source", sourced.source},
                      {"kind", plumbline::to_text(sourced.kind)}};
}

Json assumptions_json(const SizeAnswer& answer) {
  Json::Array all;
  const BillTerms& terms = answer.terms;
  if (const auto& price = terms.price_per_device_hour)
    all.push_back(assumption("price_per_gpu_hour", "USD", price->value.value(), *price));
  all.push_back(assumption("gpu_power", "W", answer.power.device.value.value(), answer.power.device));
  all.push_back(assumption("host_power_per_node", "W", answer.power.host.value.value(), answer.power.host));
  const Facility& facility = terms.facility;
  all.push_back(assumption("power_usage_effectiveness", "1", facility.power_usage_effectiveness.value,
                           facility.power_usage_effectiveness));
  all.push_back(assumption("grid_intensity", "g/kWh", facility.grid_grams_per_kwh.value, facility.grid_grams_per_kwh));
  return all;
}

std::string_view text_of(Meets meets) {
  switch (meets) {
    case Meets::no: return "no";
    case Meets::expected: return "expected";
    case Meets::surely: return "surely";
  }
  return "";
}

Json row_json(const SizeRow& row, const RunLimits& limits) {
  Json::Object object{{"scaling", to_text(row.scaling)},
                      {"devices", row.devices},
                      {"nodes", row.nodes},
                      {"global_batch", row.global_batch}};
  const RunBill& bill = row.bill;
  Json::Object figures{
      {"step_time_s", interval_json(row.step_s)},
      {"tokens_per_s", row.tokens_per_second},
      {"mfu", row.mfu},
      {"efficiency", row.efficiency},
      {"steps", bill.steps},
      {"days", interval_json(bill.days)},
      {"gpu_hours", bill.gpu_hours},
      {"dollars", bill.dollars ? Json(bill.dollars->value()) : Json()},
      {"energy_kwh", bill.energy_kwh},
      {"co2_kg", bill.co2_kg},
      {"within_limits", limits.any() ? Json(text_of(row.meets)) : Json()},
  };
  object.emplace_back("run", row.plan ? Json(std::move(figures)) : Json());
  object.emplace_back("plan", row.plan ? to_json(*row.plan) : Json());
  object.emplace_back("reason", row.reason);
  object.emplace_back("complete", row.is_complete);
  return object;
}

Json place_json(const SizeAnswer& answer, const std::optional<std::size_t>& row) {
  if (!row) return {};
  const SizeRow& found = answer.rows[*row];
  return Json::Object{{"row", static_cast<std::int64_t>(*row)}, {"devices", found.devices}};
}

Json question_json(const SizeAnswer& answer) {
  const SearchRequest& search = answer.request.search;
  const RunLimits& limits = answer.request.limits;
  return Json::Object{{"model", search.question.model},
                      {"machine", search.question.machine},
                      {"training", to_json(search.question.training)},
                      {"fixed", search.fixes},
                      {"framework", plumbline::to_text(answer.framework.framework)},
                      {"days", if_any(limits.days)},
                      {"budget_usd", limits.budget ? Json(limits.budget->value()) : Json()}};
}

}  // namespace

Json to_json(const SizeAnswer& answer) {
  Json::Array rows;
  for (const SizeRow& row : answer.rows) rows.push_back(row_json(row, answer.request.limits));
  return Json::Object{{"format", size_format},
                      {"question", question_json(answer)},
                      {"assumptions", assumptions_json(answer)},
                      {"rows", std::move(rows)},
                      {"least", place_json(answer, answer.least)},
                      {"nearest", place_json(answer, answer.nearest)},
                      {"complete", answer.complete}};
}

}  // namespace plumbline::session

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
          row.step_s.expected, Bounds{row.step_s.low, row.step_s.high}};
}

Cell days_cell(SizeCells row) {
  const Interval& days = row.bill.days;
  const char* mark = row.meets == Meets::surely ? " **" : row.meets == Meets::expected ? " *" : "";
  return {days_text(days.expected) + " (" + days_text(days.low) + "-" + days_text(days.high) + ")" + mark,
          days.expected, Bounds{days.low, days.high}};
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

namespace plumbline::session {

Answer shown(const SizeAnswer& sized) {
  Answer answer;
  answer.json = to_json_text(to_json(sized));
  for (const Scaling scaling : sized.request.scalings)
    answer.tables[std::string(to_text(scaling))] = present::size_table(sized, scaling);
  if (std::string words = present::size_answer_words(sized); !words.empty())
    answer.sentences.push_back(std::move(words));
  for (std::string& words : present::size_assumptions(sized)) answer.sentences.push_back(std::move(words));
  answer.complete = sized.complete;
  answer.found = false;
  for (const SizeRow& row : sized.rows) {
    answer.plans.push_back(row.plan ? shared(*row.plan) : nullptr);
    answer.found = answer.found || row.plan.has_value();
  }
  return answer;
}

}  // namespace plumbline::session
