#include "capi/texts.h"

#include <string>
#include <utility>

#include "core/io/json_array.h"

namespace plumbline::capi {
namespace {

Json column_json(const present::Column& column) {
  return Json::Object{{"id", column.id},
                      {"title", column.title},
                      {"unit", present::unit_text(column.unit)},
                      {"explanation", column.explanation},
                      {"is_text", column.unit == present::Unit::text}};
}

Json cell_json(const present::Cell& cell) { return Json::Array{cell.text, cell.number ? Json(*cell.number) : Json()}; }

Json row_json(const std::vector<present::Cell>& row) { return json_array(row, cell_json); }

}  // namespace

Json table_json(const present::Table& table) {
  return Json::Object{{"columns", json_array(table.columns, column_json)}, {"rows", json_array(table.rows, row_json)}};
}

Json details_json(const session::Answer& answer) {
  Json::Array tables;
  for (const auto& [name, table] : answer.tables) tables.emplace_back(name);
  return Json::Object{{"sentences", json_array(answer.sentences)},
                      {"warning", answer.warning},
                      {"complete", answer.complete},
                      {"found", answer.found},
                      {"changes", json_array(answer.changes)},
                      {"tables", std::move(tables)}};
}

Json details_json(const session::PricedPlan& plan) {
  return Json::Object{{"sentences", json_array(plan.sentences())},
                      {"warning", plan.asked ? plan.asked->warning : std::string()}};
}

std::string answer_text(const session::Answer& answer) {
  const bool is_one_plan = answer.json.empty() && answer.plans.size() == 1 && answer.plans.front();
  return is_one_plan ? answer.plans.front()->json() : answer.json;
}

}  // namespace plumbline::capi
