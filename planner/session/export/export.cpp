#include "planner/session/export/export.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/program/known_programs.h"
#include "core/quantity/text.h"
#include "models/calibration_catalog.h"
#include "models/calibration_set.h"
#include "planner/explain/strategy_changes.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "planner/session/export/nearest_launchable.h"
#include "planner/session/fit/fit.h"
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

/// A split that was found becomes one by hand: the same layers. A square root of layers becomes their number.
Strategy with_layers(const Plan& plan) {
  Strategy s = plan.strategy;
  const std::vector<std::int32_t> of_chunk = layers_of(plan);
  if (!of_chunk.empty()) s.recompute = of_chunks(s.recompute, *std::max_element(of_chunk.begin(), of_chunk.end()));
  if (s.split == StageSplit::even || placement(s.schedule) != StagePlacement::looped) return s;
  s.layers_per_stage = s.chunks() > 1 ? of_chunk : std::vector<std::int32_t>{};
  s.split = StageSplit::even;
  return s;
}

struct Candidate {
  Strategy strategy;
  std::size_t sentences = 0;
  std::size_t changed_degrees = 0;
  Plan plan;
};

/// Axes whose ranks would do something else: tensor, pipeline, context and expert parallelism.
std::size_t changed_degrees(const Strategy& a, const Strategy& b) {
  std::size_t changed = 0;
  for (const auto degree : {&Strategy::tensor_parallel, &Strategy::pipeline_stages, &Strategy::context_parallel,
                            &Strategy::expert_parallel, &Strategy::expert_tensor_parallel})
    changed += a.*degree == b.*degree ? 0 : 1;
  return changed;
}

bool is_nearer(const Candidate& a, const Candidate& b) {
  if (a.changed_degrees != b.changed_degrees) return a.changed_degrees < b.changed_degrees;
  if (a.sentences != b.sentences) return a.sentences < b.sentences;
  if (a.plan.verdict.fits != b.plan.verdict.fits) return a.plan.verdict.fits;
  return a.plan.prediction.step_time_s.expected < b.plan.prediction.step_time_s.expected;
}

/// The nearest of those one axis away that leave fewer sentences than `most`.
std::optional<Candidate> nearest(const Strategy& from, Framework framework, const Question& question,
                                 std::size_t most) {
  std::optional<Candidate> best;
  const NetworkFacts network = network_facts_of(question);
  KnownPrograms known;
  for (const Strategy& strategy : one_axis_away(from, record_of(framework), question)) {
    const std::size_t sentences = inexpressible(framework, strategy, network).size();
    const std::size_t degrees = changed_degrees(from, strategy);
    if (sentences >= most || (best && degrees > best->changed_degrees)) continue;
    if (best && degrees == best->changed_degrees && sentences > best->sentences) continue;
    Candidate one{strategy, sentences, degrees, signed_plan(question, strategy, &known)};
    if (!best || is_nearer(one, *best)) best = std::move(one);
  }
  return best;
}

/// The question as the framework's current releases answer it, where its stack is another framework's; else as it is.
Question priced_by(Framework framework, const Question& question) {
  const FrameworkRecord& record = record_of(framework);
  const std::string_view own = CalibrationSet::shipped().software_stack(question.text().stack).framework;
  if (framework_of_stack(own) == framework || record.current_stack.empty()) return question;
  if (question.usual_stack().taken().framework == own_framework())
    return question;  // cores run this program's own runtime
  QuestionText text = question.text();
  text.stack = std::string(record.current_stack);
  return {text, question.network(), question.cluster()};
}

/// Further steps that the framework launches and that make the strategy fit, where there are some.
void make_fit(Strategy& strategy, std::optional<Plan>& plan, Framework framework, const Question& question,
              std::vector<Substitution>& substitutions) {
  if (!plan || plan->verdict.fits) return;
  FitOptions options;
  options.framework = framework;
  options.top = 1;
  options.has_remedies = false;
  std::vector<Change> changes = fit({question, strategy, *plan, {}}, {}, options).changes;
  if (changes.empty()) return;
  substitutions.push_back({"what " + std::string(record_of(framework).title) + " launches of it needs " +
                               to_text(plan->prediction.peak_memory) + " and does not fit",
                           to_text(changes_between(strategy, changes.front().strategy))});
  strategy = changes.front().strategy;
  plan = std::move(changes.front().plan);
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
  make_fit(strategy, plan, framework, question, substitutions);
  return plan;
}

/// What the target itself reads in its files.
LaunchRecipe recipe_said_by(const LaunchTarget& target, const std::vector<LaunchFile>& files) {
  LaunchSettings said;
  if (target.read == nullptr) return said.recipe;
  for (const LaunchFile& file : files) {
    if (file.name != files.front().name && file.name != "launch.sh") continue;
    try {
      fill_missing(said, target.read(file.text, file.name).settings);
    } catch (const InputError&) {
      continue;  // a target whose first file says all, and which reads no scripts
    }
  }
  return said.recipe;
}

/// What of the recipe the files leave out, and that nothing goes on from where a run failed.
void say_recipe(const LaunchTarget& target, const LaunchRecipe& recipe, LaunchFiles& files) {
  std::string unsaid;
  for (const std::string& one : left_out(recipe, recipe_said_by(target, files.files)))
    unsaid += (unsaid.empty() ? "" : ", ") + one;
  if (!unsaid.empty())
    files.unsaid.push_back(std::string(to_text(target.framework)) + " has no key for the recipe's " + unsaid);
  if (!checkpoint_interval(recipe))
    files.assumptions.emplace_back(
        "no checkpoints, and no restart of a run that fails: the plan says no recipe.checkpoint_every");
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

/// Whether it is in place of what the stack does by itself.
bool is_asked(const StackChoiceField& field, std::string_view stack) {
  return stack.find("+" + std::string(field.decides) + "=") != std::string_view::npos;
}

/// What frameworks do where no file asks for more.
bool is_left_out(const StackChoiceField& field, const std::string& word) {
  return (field.word == &StackChoices::cuda_graphs && word == "none") ||
         (field.word == &StackChoices::tp_comm_overlap && word == "off");
}

/// Choices of the software that somebody asked for and the files do not. A loss is none of them.
void say_choices(const LaunchTarget& target, std::string_view stack, const LaunchSettings& s, LaunchFiles& files) {
  for (const StackChoiceField& field : stack_choice_fields()) {
    if (!is_asked(field, stack) || field.word == &StackChoices::loss) continue;
    if (is_left_out(field, s.choices.*field.word)) continue;
    if (target.says_choice == nullptr || !target.says_choice(field, s))
      files.unsaid.push_back(field.flag() + " " + s.choices.*field.word + ": no file says it");
  }
}

/// Files leave to the framework whether tensor-parallel collectives overlap, and that nothing replays as a graph, where
/// nobody asked for another than the stack's way.
StackChoices choices_for_files(std::string_view stack) {
  StackChoices choices = choices_of_stack(stack);
  for (const StackChoiceField& field : stack_choice_fields()) {
    std::string& word = choices.*field.word;
    const bool is_left =
        field.word == &StackChoices::tp_comm_overlap || (field.word == &StackChoices::cuda_graphs && word == "none");
    if (is_left && !is_asked(field, stack)) word.clear();
  }
  return choices;
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
  settings.choices = choices_for_files(asked.question.text().stack);
  const Training& training = asked.question.training();
  if (training.token_budget && training.global_batch > 0 && training.sequence_length > 0)
    settings.recipe.steps = 1 + (*training.token_budget - 1) / training.global_batch / training.sequence_length;
  if (const std::string config = config_of(asked); !config.empty())
    settings.network_config = parse_json(config, "network");
  return settings;
}

LaunchRecipe launch_recipe(const Json& plan_file) {
  const Json* const written = plan_file.find("recipe");
  return written == nullptr ? LaunchRecipe{} : launch_recipe_from_json(*written);
}

ExportAnswer export_plan(const PricedQuestion& asked, std::string_view name, std::string_view release,
                         const LaunchRecipe& recipe) {
  const LaunchTarget& target = launch_target(name, "--to");
  ExportAnswer answer{
      std::string(target.title), std::string(known_release(target, release)), {}, {}, std::nullopt, asked.plan};
  require_training(target.framework, asked.question);
  Strategy strategy = with_layers(asked.plan);
  const Question question = priced_by(target.framework, asked.question);
  answer.nearest = make_launchable(strategy, target.framework, question, answer.substitutions);
  if (answer.nearest) answer.as_planned = signed_plan(question, asked.strategy);
  if (answer.nearest) strategy = with_layers(*answer.nearest);
  LaunchSettings settings = launch_settings(asked, strategy);
  LaunchSettings said;
  said.recipe = recipe;
  said.recipe.steps = recipe.steps ? recipe.steps : settings.recipe.steps;
  fill_missing(said, settings);
  settings.recipe = said.recipe;
  // Frameworks decay by L2 or decoupled where the published optimizer, and `plan run`, have no weight decay.
  if (settings.optimizer && !facts(*settings.optimizer).reads.has(Hyperparameter::weight_decay))
    settings.recipe.weight_decay = 0;
  answer.files = target.write(settings, answer.release);
  say_recipe(target, settings.recipe, answer.files);
  say_choices(target, asked.question.text().stack, settings, answer.files);
  if (!settings.frozen.empty())
    answer.files.unsaid.push_back("--freeze " + settings.frozen +
                                  ": no file says it, so that the files train what the plan does not");
  return answer;
}

}  // namespace plumbline::session
