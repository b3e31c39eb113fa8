#include "cli/flags/plan_file.h"

#include "planner/frameworks/launch/launch_recipe.h"

namespace plumbline {

session::PlanRequest plan_request(const std::string& file) {
  session::PlanRequest request = session::read_plan_request(file);
  static_cast<void>(recipe_of(request));
  return request;
}

Recipe recipe_of(const session::PlanRequest& request) {
  return recipe_in(request.written, request.name, request.plan.training);
}

std::string plan_file_text(const session::EstimateRequest& request, const session::PricedQuestion& asked,
                           const std::filesystem::path& folder) {
  const auto* const plan = std::get_if<session::PlanRequest>(&request);
  const auto recipe =
      plan == nullptr ? default_recipe(asked.plan.training) : written_recipe(plan->written, asked.plan.training);
  return session::plan_file_text(session::named_from(asked.plan, folder), session::launch_of(asked), recipe);
}

std::string plan_file_text(const session::PricedQuestion& asked, const LaunchRecipe& said,
                           const std::filesystem::path& folder) {
  TrainingSettings numbers;
  for (auto& [name, value] : to_json(said)) numbers.push_back({name, std::move(value)});
  const auto recipe = recipe_with(numbers, asked.plan.training, "recipe of the files");
  return session::plan_file_text(session::named_from(asked.plan, folder), session::launch_of(asked), recipe);
}

std::string plan_file_text(const Plan& plan, const std::filesystem::path& folder) {
  return session::plan_file_text(session::named_from(plan, folder), session::launch_of(plan),
                                 default_recipe(plan.training));
}

}  // namespace plumbline
