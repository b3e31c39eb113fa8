#include "gui/export/plan_export.h"

#include "core/io/trace_json.h"
#include "planner/session/plan_file.h"
#include "planner/session/simulate/simulate.h"

namespace plumbline::gui {

std::string plan_text(const PricedPlan& plan) { return session::plan_text(plan.request, plan.answer); }

std::string simulated_trace_text(const PricedPlan& plan, const Task& task) {
  const auto answer = session::simulate(plan.answer, {}, task);
  if (!answer) return "";
  return trace_json_text(trace(answer->simulated.program, answer->simulated.simulation));
}

}  // namespace plumbline::gui
