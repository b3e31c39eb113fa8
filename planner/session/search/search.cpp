#include "planner/session/search/search.h"

#include <algorithm>
#include <iterator>

#include "core/base/errors.h"
#include "planner/search/finalists.h"
#include "planner/search/parallel.h"

namespace plumbline::session {
namespace {

SearchOptions options_of(const SearchRequest& request, const Task& task) {
  SearchOptions options;
  options.objective = request.objective;
  options.top = request.top;
  options.pareto = request.pareto;
  options.split = request.split.value_or(StageSplit::even);
  options.refinement = Refinement::around_best;
  options.equivalents = request.all ? Equivalents::apart : Equivalents::folded;
  options.threads = request.threads;
  options.stop = task.stop;
  options.progress = task.progress;
  return options;
}

bool ranks_by_time(Objective objective) {
  return objective == Objective::step_time || objective == Objective::tokens_per_dollar;
}

void require_number(const char* where, std::int64_t value, std::int64_t smallest, std::int64_t largest) {
  if (value >= smallest && value <= largest) return;
  throw InputError({where, std::to_string(value) + " is out of range",
                    std::to_string(smallest) + " to " + std::to_string(largest), ""});
}

/// `blocks`: by question.
Plan plan_of(const RankedStrategy& ranked, const std::vector<Question>& questions, std::vector<BlockTables>& blocks) {
  Plan plan = signed_plan(questions[ranked.question], ranked.strategy, &blocks[ranked.question].programs());
  if (ranked.ranking_step() != ranked.step_time) plan.prediction.simulated_step = to_seconds(ranked.ranking_step());
  return plan;
}

/// After a stop only so many are priced in full: what fills a screen, in a few hundredths of a second.
constexpr std::size_t most_plans_after_stop = 10;

void price_in_full(SearchAnswer& answer, const std::vector<Question>& questions, std::vector<BlockTables>& blocks,
                   const Task& task) {
  for (const RankedStrategy& ranked : answer.result.best) {
    if (answer.plans.size() >= most_plans_after_stop && task.is_stopped()) break;
    answer.plans.push_back(plan_of(ranked, questions, blocks));
  }
  if (answer.plans.size() == answer.result.best.size()) return;
  answer.result.best.resize(answer.plans.size());
  answer.result.equivalent.resize(answer.plans.size());
  answer.result.complete = false;
}

bool is_same_recipe(const Training& a, const Training& b) {
  return a.precision == b.precision && a.optimizer == b.optimizer && a.adaptation.lora_rank == b.adaptation.lora_rank;
}

/// Where one recipe takes all places of the ranking, what the others could do is not said there.
void add_best_of_others(SearchAnswer& answer, const PreparedSearch& prepared, SearchOptions options, const Task& task) {
  options.top = 1;
  options.pareto = false;
  options.best_so_far = {};
  std::vector<Training> seen;
  for (const Plan& plan : answer.plans) seen.push_back(plan.training);
  for (const Question& first : prepared.questions) {
    const auto has_recipe_of = [&](const Training& other) { return is_same_recipe(first.training(), other); };
    if (task.is_stopped() || std::any_of(seen.begin(), seen.end(), has_recipe_of)) continue;
    seen.push_back(first.training());
    std::vector<Question> questions;
    std::copy_if(prepared.questions.begin(), prepared.questions.end(), std::back_inserter(questions),
                 [&](const Question& one) { return has_recipe_of(one.training()); });
    std::vector<BlockTables> blocks;
    options.known_blocks = &blocks;
    const SearchResult found = plumbline::search(questions, prepared.space, options);
    if (!found.best.empty()) answer.best_of_others.push_back(plan_of(found.best.front(), questions, blocks));
  }
}

/// The least that any of the plans scores by closed form.
Score least_score(const SearchAnswer& answer, const PreparedSearch& prepared) {
  std::optional<Score> least;
  for (const RankedStrategy& plan : answer.result.best) {
    const Score score = closed_form_score(plan, prepared.questions[plan.question], prepared.request.objective);
    if (!least || score < *least) least = score;
  }
  return least.value();
}

/// The best plan by closed form that any framework could launch, where one is better than those of the answer,
/// simulated. Of the wider space only what its bounds let be better is priced.
std::optional<WithoutLimits> without_limits(const SearchAnswer& answer, const PreparedSearch& prepared,
                                            const SearchOptions& limited, const Task& task) {
  SearchOptions options = limited;
  options.top = 1;
  options.pareto = false;
  options.best_so_far = {};
  options.split = StageSplit::even;
  options.finalists = Finalists::closed_form;
  options.refinement = Refinement::none;
  options.equivalents = Equivalents::apart;  // of plans that are equivalent the best is told
  options.below = least_score(answer, prepared);
  SearchSpace space = prepared.space;
  space.allows = {};
  space.has_level_splits = prepared.request.split != StageSplit::even;
  SearchResult wider = plumbline::search(prepared.questions, space, options);
  if (task.is_stopped()) return std::nullopt;
  if (wider.best.empty()) return WithoutLimits{};
  const SimulationContext context{
      prepared.questions, *options.known_blocks, thread_count(options.threads), task.stop, {}};
  if (!plumbline::simulate(wider.best, 0, 1, context)) return std::nullopt;
  const RankedStrategy& best = wider.best.front();
  return WithoutLimits{
      plan_of(best, prepared.questions, *options.known_blocks),
      inexpressible(answer.framework.framework, best.strategy, network_facts_of(prepared.questions[best.question]))};
}

void fill(RecipeChoices& choices, const Training& training) {
  if (choices.precisions.empty()) choices.precisions.push_back(training.precision);
  if (choices.optimizers.empty()) choices.optimizers.push_back(training.optimizer);
  if (choices.lora_ranks.empty()) choices.lora_ranks.push_back(training.adaptation.lora_rank);
}

std::vector<Question> questions_of(const QuestionText& text, const PreparedSearch& prepared) {
  std::vector<Question> questions = search_questions(text, prepared.request.recipes, prepared.request.objective);
  for (const Question& question : questions) {
    require_moments(question.training());
    require_units(question);
  }
  return questions;
}

}  // namespace

PreparedSearch prepare_search(const SearchRequest& request) {
  require_number("top", static_cast<std::int64_t>(request.top), 1, most_plans);
  require_number("threads", request.threads, 0, most_threads);
  PreparedSearch prepared{request, {}, space_from_text(request.fixes), {}, {}};
  fill(prepared.request.recipes, request.question.training);
  prepared.space.flash_attention = request.flash_attention;
  prepared.questions = questions_of(request.question, prepared);
  prepared.framework =
      chosen_framework(request.framework, prepared.questions, prepared.space, request.split.value_or(StageSplit::even));
  if (const auto priced = priced_as_current(request.question, prepared.framework.framework, prepared.questions))
    prepared.questions = questions_of(*priced, prepared);
  QuestionText& understood = prepared.request.question;
  understood = prepared.questions.front().text();
  understood.devices = prepared.questions.front().devices();
  if (request.flash_attention.empty())
    prepared.request.flash_attention = {prepared.questions.front().usual_flash_attention()};
  prepared.warning = name_warning(understood);
  prepared.space = launchable(prepared.space, prepared.framework.framework, prepared.questions.front());
  if (request.split == StageSplit::even) prepared.space.has_level_splits = false;
  return prepared;
}

SearchAnswer search(const PreparedSearch& prepared, const Task& task, const BestSoFar& best_so_far) {
  SearchAnswer answer;
  answer.request = prepared.request;
  answer.framework = prepared.framework;
  SearchOptions options = options_of(prepared.request, task);
  options.best_so_far = best_so_far;
  std::vector<BlockTables> blocks;
  options.known_blocks = &blocks;
  answer.result = plumbline::search(prepared.questions, prepared.space, options);
  task.end("search");
  price_in_full(answer, prepared.questions, blocks, task);
  if (answer.plans.empty() && answer.result.nearest_miss) {
    const RankedStrategy& nearest = *answer.result.nearest_miss;
    answer.nearest_miss = signed_plan(prepared.questions[nearest.question], nearest.strategy);
  }
  if (!answer.plans.empty())
    answer.next_stack = next_stack(prepared.questions[answer.result.best.front().question], answer.plans.front());
  task.end("pricing");
  if (answer.result.complete && !answer.plans.empty()) add_best_of_others(answer, prepared, options, task);
  if (ranks_by_time(answer.request.objective)) answer.ties = ties_of(answer.plans, answer.result.equivalent);
  const bool has_limits = answer.framework.framework != Framework::any;
  if (prepared.request.limits_cost && has_limits && answer.result.complete && !answer.plans.empty()) {
    answer.without_limits = without_limits(answer, prepared, options, task);
    task.end("search without limits");
  }
  return answer;
}

SearchAnswer search(const SearchRequest& request, const Task& task) { return search(prepare_search(request), task); }

std::string why_no_plan(const SearchAnswer& found) {
  if (!found.result.complete) return "interrupted before a plan was found";
  return found.nearest_miss ? found.nearest_miss->verdict.reason : "no plan of this space is legal";
}

StrategyRequest best_strategy(const QuestionText& question, const Task& task) {
  SearchRequest request;
  request.question = question;
  request.limits_cost = false;
  const PreparedSearch prepared = prepare_search(request);
  const SearchAnswer found = search(prepared, task);
  const bool fits = !found.result.best.empty();
  if (!fits && !found.result.nearest_miss) return {question, {}};  // none is legal: plain data parallelism says why
  const RankedStrategy& best = fits ? found.result.best.front() : *found.result.nearest_miss;
  const std::string whose =
      found.framework.framework == Framework::any
          ? ""
          : " of those that " + std::string(record_of(found.framework.framework).title) + " launches";
  StrategyRequest chosen{prepared.questions[best.question].text(), {best.strategy, true, true, true, true}};
  chosen.question.devices = prepared.questions[best.question].devices();
  chosen.chosen = fits ? "no strategy was given: this is the best plan" + whose + ", as plan search finds it"
                       : "no strategy was given and no plan" + whose + " fits: this one comes nearest";
  return chosen;
}

}  // namespace plumbline::session
