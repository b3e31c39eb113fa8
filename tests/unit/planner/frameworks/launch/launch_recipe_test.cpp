// What a recipe says survives every target's files, and nothing is said that nobody said.
#include "planner/frameworks/launch/launch_recipe.h"

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline::launch_recipe_test {
namespace {

LaunchRecipe whole_recipe() {
  return {.steps = 2000,
          .seed = 7,
          .learning_rate = 3e-4,
          .final_learning_rate = 3e-5,
          .lr_schedule = LearningRateShape::cosine,
          .schedule_steps = 2500,
          .warmup_steps = 100,
          .clip = 0.5,
          .beta1 = 0.85,
          .beta2 = 0.97,
          .epsilon = 1e-7,
          .momentum = {},
          .weight_decay = 0.05,
          .checkpoint = "states",
          .checkpoint_every = 250};
}

LaunchSettings settings_with(const LaunchRecipe& recipe) {
  Strategy strategy;
  strategy.data_parallel = 8;
  strategy.zero_stage = 3;
  strategy.shard_group = 8;
  Training training;
  training.sequence_length = 4096;
  training.global_batch = 8;
  LaunchSettings settings = settings_for(strategy, training);
  settings.nodes = 1;
  settings.model = "llama-3.1-8b";
  settings.recipe = recipe;
  return settings;
}

LaunchRecipe read_back(const LaunchTarget& target, const LaunchFiles& files) {
  LaunchSettings settings = target.read(files.files.front().text, files.files.front().name).settings;
  for (const LaunchFile& file : files.files) {
    if (file.name != "launch.sh") continue;
    try {
      fill_missing(settings, target.read(file.text, file.name).settings);
    } catch (const InputError&) {
      continue;
    }
  }
  return settings.recipe;
}

LaunchFiles written(const LaunchTarget& target, const LaunchRecipe& recipe, std::string_view release = {}) {
  return target.write(settings_with(recipe), release.empty() ? target.releases.back() : release);
}

TEST_CASE("every target's files say the whole recipe, and are read so") {
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    const LaunchFiles files = written(target, whole_recipe());
    INFO(target.title << "\n" << files.files.front().text);
    CHECK(left_out(whole_recipe(), read_back(target, files)).empty());
  }
}

TEST_CASE("shapes of the learning rate survive where a target has them") {
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    for (const LearningRateShape shape :
         {LearningRateShape::constant, LearningRateShape::linear, LearningRateShape::inverse_square_root}) {
      LaunchRecipe recipe = whole_recipe();
      recipe.lr_schedule = shape;
      recipe.final_learning_rate.reset();
      recipe.schedule_steps.reset();
      const bool lacks = shape == LearningRateShape::inverse_square_root && target.framework == Framework::torchtitan;
      INFO(target.title << " " << to_text(shape));
      const LaunchRecipe back = read_back(target, written(target, recipe));
      CHECK((back.lr_schedule == shape) == !lacks);
      CHECK(back.warmup_steps.value_or(100) == 100);
    }
  }
}

TEST_CASE("an empty recipe says no schedule, no clipping and no checkpoints") {
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    const LaunchFiles files = written(target, {});
    INFO(target.title << "\n" << files.files.front().text);
    LaunchRecipe back = read_back(target, files);
    // What a file cannot leave open is an assumption that is said.
    back.steps.reset();
    back.learning_rate.reset();
    CHECK(to_text(back).empty());
    for (const LaunchFile& file : files.files) {
      INFO(file.text);
      CHECK(file.text.find("max-restarts") == std::string::npos);
      CHECK(file.text.find("restartPolicy: OnFailure") == std::string::npos);
    }
  }
}

TEST_CASE("a run with checkpoints is started again") {
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    std::string all;
    for (const LaunchFile& file : written(target, whole_recipe()).files) all += file.text;
    INFO(target.title << all);
    CHECK((all.find("--max-restarts=3") != std::string::npos || all.find("--max_restarts 3") != std::string::npos));
    CHECK(all.find("restartPolicy: OnFailure") != std::string::npos);
  }
}

TEST_CASE("a recipe's members are those of a plan file") {
  const LaunchRecipe recipe = whole_recipe();
  const LaunchRecipe again = launch_recipe_from_json(Json(to_json(recipe)));
  CHECK(left_out(recipe, again).empty());
  CHECK(launch_recipe_from_json(parse_json(R"({"steps": null, "lr_schedule": null})", "")).steps == std::nullopt);
}

}  // namespace
}  // namespace plumbline::launch_recipe_test
