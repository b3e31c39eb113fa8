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

std::string plan_file_text(const session::EstimateRequest& request, const session::PricedQuestion& asked,
                           const std::filesystem::path& folder) {
  const auto* const plan = std::get_if<session::PlanRequest>(&request);
  const auto recipe =
      plan == nullptr ? default_recipe(asked.plan.training) : written_recipe(plan->written, asked.plan.training);
  return session::plan_file_text(session::named_from(asked.plan, folder), session::launch_of(asked), recipe);
}

std::string plan_file_text(const session::PricedQuestion& asked, const LaunchRecipe& said,
                           const std::filesystem::path& folder) {
  Json::Object recipe = *default_recipe(asked.plan.training).if_object();
  const auto put = [&](std::string_view name, const auto& value) {
    for (auto& [key, own] : recipe)
      if (key == name && value) own = Json(*value);
  };
  put("steps", said.steps);
  put("warmup_steps", said.warmup_steps);
  put("seed", said.seed);
  put("learning_rate", said.learning_rate);
  put("clip", said.clip);
  put("weight_decay", said.weight_decay);
  const Json written(std::move(recipe));
  static_cast<void>(recipe_from_json(JsonPlace(written, "recipe of the files"), asked.plan.training));
  return session::plan_file_text(session::named_from(asked.plan, folder), session::launch_of(asked), written);
}

std::string plan_file_text(const Plan& plan, const std::filesystem::path& folder) {
  return session::plan_file_text(session::named_from(plan, folder), session::launch_of(plan),
                                 default_recipe(plan.training));
}

}  // namespace plumbline
