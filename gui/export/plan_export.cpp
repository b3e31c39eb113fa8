#include "gui/export/plan_export.h"

#include "planner/session/plan_file.h"

namespace plumbline::gui {

std::string plan_text(const PricedPlan& plan) {
  Json recipe;
  if (const auto* const request = std::get_if<session::PlanRequest>(&plan.request))
    if (const Json* const written = request->written.find("recipe")) recipe = *written;
  return session::plan_file_text(plan.answer.plan, session::launch_of(plan.answer), recipe);
}

}  // namespace plumbline::gui
