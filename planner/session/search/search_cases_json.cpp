#include "planner/session/search/search_cases_json.h"

#include "core/io/plan_json.h"

namespace plumbline::session {

Json to_json(const CasesAnswer& answer) {
  Json::Array rows;
  for (const CaseAnswer& row : answer.rows) {
    Json::Object values;
    for (const CaseValue& one : row.values) values.emplace_back(one.part, one.value);
    const Plan* const plan = row.plan();
    rows.emplace_back(Json::Object{{"values", std::move(values)},
                                   {"framework", row.found ? Json(to_text(row.found->framework.framework)) : Json()},
                                   {"plan", plan == nullptr ? Json() : to_json(*plan)},
                                   {"reason", row.reason},
                                   {"complete", row.found && row.found->result.complete}});
  }
  return Json::Object{{"format", search_cases_format}, {"rows", std::move(rows)}, {"complete", answer.complete}};
}

}  // namespace plumbline::session
