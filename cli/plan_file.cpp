#include "cli/plan_file.h"

namespace plumbline {

session::PlanRequest plan_request(const std::string& file) {
  session::PlanRequest request = session::read_plan_request(file);
  static_cast<void>(recipe_of(request));
  return request;
}

Recipe recipe_of(const session::PlanRequest& request) {
  return recipe_in(request.written, request.name, request.plan.training);
}

std::string plan_file_text(const session::EstimateRequest& request, const session::PricedQuestion& asked) {
  const auto* const plan = std::get_if<session::PlanRequest>(&request);
  const auto recipe =
      plan == nullptr ? default_recipe(asked.plan.training) : written_recipe(plan->written, asked.plan.training);
  return session::plan_file_text(asked.plan, session::launch_of(asked), recipe);
}

std::string plan_file_text(const Plan& plan) {
  return session::plan_file_text(plan, session::launch_of(plan), default_recipe(plan.training));
}

}  // namespace plumbline
