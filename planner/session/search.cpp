#include "planner/session/search.h"

#include "core/base/errors.h"
#include "planner/session/estimate.h"

namespace plumbline::session {
namespace {

SearchOptions options_of(const SearchRequest& request, const Task& task) {
  SearchOptions options;
  options.objective = request.objective;
  options.top = request.top;
  options.pareto = request.pareto;
  options.split = request.split;
  options.threads = request.threads;
  options.stop = task.stop;
  options.progress = task.progress;
  return options;
}

void require_number(const char* where, std::int64_t value, std::int64_t smallest, std::int64_t largest) {
  if (value >= smallest && value <= largest) return;
  throw InputError({where, std::to_string(value) + " is out of range",
                    std::to_string(smallest) + " to " + std::to_string(largest), ""});
}

bool has_experts(const Question& question) { return !question.facts().experts.empty(); }

void require_none(const std::string& where, const std::vector<std::string>& sentences, const char* expected) {
  if (!sentences.empty()) throw InputError({where, sentences.front(), expected, ""});
}

/// What was asked for by name must be launched; what is free is narrowed.
void require_launchable(const PreparedSearch& prepared) {
  const SearchRequest& request = prepared.request;
  for (const Question& question : prepared.questions)
    require_none("--for", inexpressible(request.framework, question.training()),
                 "another framework, or another recipe");
  const auto require = [&](const char* where, const Strategy& strategy) {
    require_none(where, inexpressible(request.framework, strategy, false), "another value, or another framework");
  };
  for (const Schedule schedule : prepared.space.schedules) {
    Strategy alone;
    alone.schedule = schedule;
    require("--fix schedule", alone);
  }
  for (const Recompute& recompute : prepared.space.recompute) {
    Strategy alone;
    alone.recompute = recompute;
    require("--fix recompute", alone);
  }
  Strategy alone;
  alone.split = request.split;
  require("--split", alone);
}

Plan plan_of(const RankedStrategy& ranked, const std::vector<Question>& questions) {
  Plan plan = signed_plan(questions[ranked.question], ranked.strategy);
  if (ranked.ranking_step() != ranked.step_time) plan.prediction.simulated_step = to_seconds(ranked.ranking_step());
  return plan;
}

/// The best plan of the same search where any framework would do.
WithoutLimits without_limits(const PreparedSearch& prepared, const Task& task) {
  SearchRequest one = prepared.request;
  one.top = 1;
  one.pareto = false;
  SearchSpace space = prepared.space;
  space.admits = {};
  const SearchResult result = plumbline::search(prepared.questions, space, options_of(one, task));
  if (result.best.empty()) return {};
  const Question& question = prepared.questions[result.best.front().question];
  Plan plan = plan_of(result.best.front(), prepared.questions);
  std::vector<std::string> sentences = inexpressible(prepared.request.framework, plan.strategy, has_experts(question));
  return {std::move(plan), std::move(sentences)};
}

}  // namespace

PreparedSearch prepare_search(const SearchRequest& request) {
  require_number("top", static_cast<std::int64_t>(request.top), 1, most_plans);
  require_number("threads", request.threads, 0, most_threads);
  require_moments(request.question.training);
  PreparedSearch prepared{request, {}, space_from_text(request.fixes), {}};
  std::vector<PrecisionRecipe>& precisions = prepared.request.precisions;
  if (precisions.empty()) precisions.push_back(request.question.training.precision);
  prepared.space.flash_attention = request.flash_attention;
  prepared.questions = search_questions(request.question, precisions, request.objective);
  for (const Question& question : prepared.questions) require_units(question);
  QuestionText& understood = prepared.request.question;
  understood = prepared.questions.front().text();
  understood.devices = prepared.questions.front().devices();
  prepared.remark = name_remark(understood);
  if (request.framework == Framework::any) return prepared;
  require_launchable(prepared);
  const bool experts = has_experts(prepared.questions.front());
  prepared.space.admits = [&record = record_of(request.framework), experts](const Strategy& strategy) {
    return launches(record, strategy, experts);
  };
  return prepared;
}

SearchAnswer search(const PreparedSearch& prepared, const Task& task) {
  SearchAnswer answer;
  answer.request = prepared.request;
  answer.result = plumbline::search(prepared.questions, prepared.space, options_of(prepared.request, task));
  task.end("search");
  for (const RankedStrategy& ranked : answer.result.best) answer.plans.push_back(plan_of(ranked, prepared.questions));
  if (answer.plans.empty() && answer.result.nearest_miss) {
    const RankedStrategy& nearest = *answer.result.nearest_miss;
    answer.nearest_miss = signed_plan(prepared.questions[nearest.question], nearest.strategy);
  }
  task.end("pricing");
  if (answer.request.framework != Framework::any && answer.result.complete && !answer.plans.empty()) {
    answer.without_limits = without_limits(prepared, task);
    if (task.is_stopped()) answer.without_limits.reset();
    task.end("search without limits");
  }
  return answer;
}

SearchAnswer search(const SearchRequest& request, const Task& task) { return search(prepare_search(request), task); }

}  // namespace plumbline::session
