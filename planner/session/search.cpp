#include "planner/session/search.h"

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

Plan plan_of(const RankedStrategy& ranked, const std::vector<Question>& questions) {
  Plan plan = signed_plan(questions[ranked.question], ranked.strategy);
  if (ranked.ranking_step() != ranked.step_time) plan.prediction.simulated_step = to_seconds(ranked.ranking_step());
  return plan;
}

}  // namespace

PreparedSearch prepare_search(const SearchRequest& request) {
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
  return answer;
}

SearchAnswer search(const SearchRequest& request, const Task& task) { return search(prepare_search(request), task); }

}  // namespace plumbline::session
