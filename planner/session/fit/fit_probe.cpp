#include "planner/session/fit/fit_probe.h"

#include "core/base/errors.h"
#include "planner/pricing/evaluate.h"

namespace plumbline::session {
namespace {

/// Every schedule is legal with so many micro-batches, and gradients are accumulated.
constexpr std::int64_t micro_batches_per_stage = 2;

/// Data-parallel ranks of a strategy on these devices; 1 where the degrees do not divide them, which is refused later.
std::int64_t data_ranks(const PartialStrategy& partial, std::int64_t devices) {
  const Strategy& s = partial.strategy;
  if (partial.data_parallel_given) return s.data_parallel;
  return std::max<std::int64_t>(1, devices / s.pipeline_stages / s.tensor_parallel / s.context_parallel);
}

SearchOptions fastest_that_fits(const Task& task) {
  SearchOptions options;
  options.top = 1;
  options.finalists = Finalists::closed_form;
  options.stop = task.stop;
  return options;
}

}  // namespace

FitProber::FitProber(const FitLimitsRequest& request, const FitPoint& base) : request_(request) {
  if (request_.strategy) {
    const StrategyRequest asked = given_strategy_at(base);
    require_moments(asked.question.training);
    const Question question(asked.question);
    require_units(question);
    const bool varies_model = request_.question.model.empty();  // what is illegal for one may be legal for another
    if (!varies_model) require_legal(completed(asked.strategy, question), question);
    return;
  }
  framework_ = prepare_search(any_strategy_at(base)).framework;
  if (framework_.framework != Framework::any) request_framework_ = framework_.framework;
}

QuestionText FitProber::question_at(const FitPoint& point) const {
  QuestionText text = request_.question;
  text.model = point.model;
  text.devices = point.devices;
  text.training.sequence_length = point.sequence_length;
  return text;
}

StrategyRequest FitProber::given_strategy_at(const FitPoint& point) const {
  StrategyRequest request{question_at(point), *request_.strategy};
  Strategy& s = request.strategy.strategy;
  s.micro_batch = point.micro_batch;
  request.question.training.global_batch =
      micro_batches_per_stage * s.pipeline_stages * point.micro_batch * data_ranks(request.strategy, point.devices);
  return request;
}

/// With so many sequences a GPU the batch divides by all ranks and micro-batches of every plan.
SearchRequest FitProber::any_strategy_at(const FitPoint& point) const {
  SearchRequest request;
  request.question = question_at(point);
  request.question.training.global_batch = micro_batches_per_stage * point.micro_batch * point.devices;
  request.fixes = "mbs=" + std::to_string(point.micro_batch);
  request.framework = request_framework_;
  return request;
}

FitProbe FitProber::of_given_strategy(const FitPoint& point) const {
  const StrategyRequest asked = given_strategy_at(point);
  const Question question(asked.question);
  const Strategy strategy = completed(asked.strategy, question);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  if (plan.verdict.fits) return {std::move(plan), {}};
  return {std::nullopt, plan.verdict.reason};
}

std::optional<FitProbe> FitProber::of_any_strategy(const FitPoint& point, const Task& task) const {
  const PreparedSearch prepared = prepare_search(any_strategy_at(point));
  const SearchResult found = plumbline::search(prepared.questions, prepared.space, fastest_that_fits(task));
  if (!found.complete) return std::nullopt;
  if (!found.best.empty())
    return FitProbe{signed_plan(prepared.questions[found.best.front().question], found.best.front().strategy), {}};
  if (!found.nearest_miss) return FitProbe{std::nullopt, "no plan is legal"};
  const RankedStrategy& nearest = *found.nearest_miss;
  const Plan plan = evaluate(prepared.questions[nearest.question], nearest.strategy);
  return FitProbe{std::nullopt, plan.verdict.reason + ", with " + to_text(nearest.strategy)};
}

std::optional<FitProbe> FitProber::at(const FitPoint& point, const Task& task) const {
  if (task.is_stopped()) return std::nullopt;
  try {
    if (request_.strategy) return of_given_strategy(point);
    return of_any_strategy(point, task);
  } catch (const InputError& error) {
    return FitProbe{std::nullopt, error.what()};
  }
}

}  // namespace plumbline::session
