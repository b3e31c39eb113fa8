#include "planner/io/size_json.h"

#include "core/io/plan_json.h"
#include "core/io/training_json.h"

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
