#include "planner/session/export.h"

#include <algorithm>

#include "core/base/errors.h"
#include "models/calibration_set.h"
#include "planner/explain/strategy_changes.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "planner/session/launchable.h"
#include "planner/session/nearest_launchable.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {
namespace {

/// Layers of each chunk of a plan, in the order of the network.
std::vector<std::int32_t> layers_of(const Plan& plan) {
  const std::size_t stages = plan.layout.stages.size();
  std::vector<std::int32_t> layers;
  for (std::int32_t chunk = 0; chunk < plan.strategy.chunks(); ++chunk) {
    const auto index = static_cast<std::size_t>(chunk);
    const std::vector<std::int64_t>& ends = plan.layout.stages[index % stages].layers[index / stages];
    layers.push_back(ends.empty() ? 0 : static_cast<std::int32_t>(ends.back() - ends.front() + 1));
  }
  return layers;
}

/// A split that was found becomes one by hand: the same layers.
Strategy with_layers(const Plan& plan) {
  Strategy s = plan.strategy;
  if (s.split == StageSplit::even || placement(s.schedule) != StagePlacement::looped) return s;
  s.layers_per_stage = s.chunks() > 1 ? layers_of(plan) : std::vector<std::int32_t>{};
  s.split = StageSplit::even;
  return s;
}

struct Candidate {
  Strategy strategy;
  std::size_t sentences = 0;
  Plan plan;
};

bool is_nearer(const Candidate& a, const Candidate& b) {
  if (a.sentences != b.sentences) return a.sentences < b.sentences;
  if (a.plan.verdict.fits != b.plan.verdict.fits) return a.plan.verdict.fits;
  return a.plan.prediction.step_time_s.expected < b.plan.prediction.step_time_s.expected;
}

/// The nearest of those one axis away that leave fewer sentences than `most`.
std::optional<Candidate> nearest(const Strategy& from, Framework framework, const Question& question,
                                 std::size_t most) {
  std::optional<Candidate> best;
  const NetworkFacts network = network_facts_of(question);
  for (const Strategy& strategy : one_axis_away(from, record_of(framework), question)) {
    const std::size_t sentences = inexpressible(framework, strategy, network).size();
    if (sentences >= most || (best && sentences > best->sentences)) continue;
    Candidate one{strategy, sentences, signed_plan(question, strategy)};
    if (!best || is_nearer(one, *best)) best = std::move(one);
  }
  return best;
}

void require_training(Framework framework, const Question& question) {
  if (const auto sentences = inexpressible(framework, question.training()); !sentences.empty())
    throw InputError({"--to", sentences.front(), "another framework, or another recipe", ""});
  if (const auto problem = network_problem(framework, network_facts_of(question)))
    throw InputError({"--to", problem->what, problem->expected, ""});
}

/// Changes what the framework does not launch, noting each change; the plan of the last, if any.
std::optional<Plan> make_launchable(Strategy& strategy, Framework framework, const Question& question,
                                    std::vector<Substitution>& substitutions) {
  std::optional<Plan> plan;
  const NetworkFacts network = network_facts_of(question);
  auto sentences = inexpressible(framework, strategy, network);
  while (!sentences.empty()) {
    std::optional<Candidate> next = nearest(strategy, framework, question, sentences.size());
    if (!next)
      throw InputError({"--to", sentences.front() + "; no legal strategy one step away can be launched",
                        "another framework, or a plan of plan search --for " + std::string(to_text(framework)), ""});
    const auto left = inexpressible(framework, next->strategy, network);
    for (const std::string& sentence : sentences)
      if (std::find(left.begin(), left.end(), sentence) == left.end())
        substitutions.push_back({sentence, to_text(changes_between(strategy, next->strategy))});
    strategy = next->strategy;
    plan = std::move(next->plan);
    sentences = left;
  }
  return plan;
}

std::string_view known_release(const LaunchTarget& target, std::string_view asked) {
  if (asked.empty()) return target.releases.empty() ? std::string_view() : target.releases.back();
  std::vector<std::string> names;
  std::string all;
  for (const std::string_view release : target.releases) {
    if (release == asked) return release;
    names.emplace_back(release);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw InputError({"--release", "'" + std::string(asked) + "' is not among those of " + std::string(target.title),
                    "one of " + all, nearest_text(asked, names)});
}

}  // namespace

LaunchSettings launch_settings(const PricedQuestion& asked, const Strategy& strategy) {
  LaunchSettings settings = settings_of(strategy, asked.question.training());
  settings.model = asked.plan.model.name;
  settings.devices = asked.question.devices();
  const Cluster& cluster = asked.question.cluster();
  if (cluster.groups.size() == 1) {
    settings.nodes = cluster.groups.front().count;
    settings.devices_per_node = cluster.groups.front().node.devices;
  }
  settings.loss = CalibrationSet::shipped().axis_value(asked.question.text().stack, "loss");
  const Training& training = asked.question.training();
  if (training.token_budget && training.global_batch > 0 && training.sequence_length > 0)
    settings.recipe.steps = 1 + (*training.token_budget - 1) / training.global_batch / training.sequence_length;
  if (const std::string config = config_of(asked); !config.empty())
    settings.network_config = parse_json(config, "network");
  return settings;
}

LaunchRecipe launch_recipe(const Json& plan_file) {
  LaunchRecipe recipe;
  const Json* const written = plan_file.find("recipe");
  if (written == nullptr) return recipe;
  for_each_recipe_number([&](const char* key, auto member) {
    auto& value = recipe.*member;
    const Json* const said = written->find(key);
    if (said == nullptr) return;
    if (const std::int64_t* const whole = said->if_integer())
      value = *whole;
    else if (const double* const number = said->if_double())
      value = static_cast<typename std::remove_reference_t<decltype(value)>::value_type>(*number);
  });
  return recipe;
}

ExportAnswer export_plan(const PricedQuestion& asked, std::string_view name, std::string_view release,
                         const LaunchRecipe& recipe) {
  const LaunchTarget& target = launch_target(name, "--to");
  ExportAnswer answer{std::string(target.title), std::string(known_release(target, release)), {}, {}, std::nullopt};
  require_training(target.framework, asked.question);
  Strategy strategy = with_layers(asked.plan);
  answer.nearest = make_launchable(strategy, target.framework, asked.question, answer.substitutions);
  if (answer.nearest) strategy = with_layers(*answer.nearest);
  LaunchSettings settings = launch_settings(asked, strategy);
  LaunchSettings said;
  said.recipe = recipe;
  said.recipe.steps = recipe.steps ? recipe.steps : settings.recipe.steps;
  fill_missing(said, settings);
  settings.recipe = said.recipe;
  answer.files = target.write(settings, answer.release);
  if (!settings.frozen.empty())
    answer.files.unsaid.push_back("--freeze " + settings.frozen +
                                  ": no file says it, so that the files train what the plan does not");
  return answer;
}

}  // namespace plumbline::session
