#include "planner/session/search/around.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/base/errors.h"
#include "planner/explain/strategy_changes.h"
#include "planner/question/noise.h"
#include "planner/search/space_axes.h"

namespace plumbline::session {
namespace {

/// What is chosen together.
enum class Choice : std::uint8_t {
  tensor,
  pipeline,
  context,
  expert,
  schedule,
  micro_batch,
  zero,
  sequence,
  recompute
};
constexpr std::array all_choices{Choice::tensor, Choice::pipeline, Choice::context,
                                 Choice::expert, Choice::schedule, Choice::micro_batch,
                                 Choice::zero,   Choice::sequence, Choice::recompute};
using Choices = std::set<Choice>;

/// Of a choice that is not free, the start's value alone; of a free one what was fixed, or all.
class AxisLists {
 public:
  AxisLists(const Choices& free, const SearchSpace& fixed) : free_(free), space_(fixed) {}

  template <class T, class V>
  void keep(Choice choice, std::vector<T> SearchSpace::*list, std::initializer_list<V> values) {
    if (!free_.contains(choice)) (space_.*list).assign(values.begin(), values.end());
  }
  /// The details of an axis stay with it.
  void keep_details(Choice choice, std::string_view flag, const Strategy& start) {
    if (free_.contains(choice)) return;
    for (const SpaceAxis& one : space_axes()) {
      if (one.axis->detail_of != flag) continue;
      one.copy({}, space_);
      one.add(space_, start);
    }
  }
  [[nodiscard]] bool is_free(Choice choice) const { return free_.contains(choice); }
  [[nodiscard]] SearchSpace& space() { return space_; }

 private:
  const Choices& free_;
  SearchSpace space_;
};

void keep_pipeline(AxisLists& lists, const Strategy& start) {
  lists.keep(Choice::pipeline, &SearchSpace::pipeline_stages, {start.pipeline_stages});
  // One stage has no schedule; a first pipeline takes the usual one, a pipeline that ends none.
  const bool is_first = start.pipeline_stages == 1;
  lists.keep(Choice::schedule, &SearchSpace::schedule, {is_first ? Schedule::one_f_one_b : start.schedule});
  lists.keep(Choice::schedule, &SearchSpace::virtual_stages, {start.virtual_stages, 1});
}

/// Of undivided sequences there was nothing to choose. From all-to-all both ways are near, as it was asked for.
void keep_communication(AxisLists& lists, const Strategy& start) {
  if (start.context_parallel > 1)
    lists.keep(Choice::context, &SearchSpace::context_communication, {start.context_communication});
  std::vector<ContextCommunication>& values = lists.space().context_communication;
  if (start.exchanges_heads() && values.empty())
    values.assign(all_context_communications.begin(), all_context_communications.end());
}

/// The fixed space with the start's values of all choices but the free ones.
SearchSpace space_around(const Strategy& start, const Choices& free, const SearchSpace& fixed) {
  AxisLists lists(free, fixed);
  lists.keep(Choice::tensor, &SearchSpace::tensor_parallel, {start.tensor_parallel});
  keep_pipeline(lists, start);
  lists.keep(Choice::context, &SearchSpace::context_parallel, {start.context_parallel});
  keep_communication(lists, start);
  lists.keep(Choice::expert, &SearchSpace::expert_parallel, {start.expert_parallel});
  lists.keep(Choice::expert, &SearchSpace::expert_tensor_parallel, {start.expert_tensor_parallel});
  lists.keep(Choice::micro_batch, &SearchSpace::micro_batch, {start.micro_batch});
  lists.keep(Choice::zero, &SearchSpace::zero_stage, {start.zero_stage});
  lists.keep_details(Choice::zero, "--zero", start);
  lists.keep(Choice::recompute, &SearchSpace::recompute, {start.recompute});
  // Without tensor parallelism there was nothing to choose.
  const bool had_choice = start.tensor_parallel > 1 || !lists.is_free(Choice::tensor);
  if (had_choice) lists.keep(Choice::sequence, &SearchSpace::sequence_parallel, {start.sequence_parallel});
  return lists.space();
}

/// Every set of `count` of `of`.
std::vector<Choices> sets_of(std::size_t count, const std::vector<Choice>& of) {
  if (count == 0) return {{}};
  std::vector<Choices> sets;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const std::vector<Choice> later(of.begin() + static_cast<std::ptrdiff_t>(i) + 1, of.end());
    for (Choices set : sets_of(count - 1, later)) {
      set.insert(of[i]);
      sets.push_back(std::move(set));
    }
  }
  return sets;
}

std::vector<Choice> choices_of(const Question& question) {
  std::vector<Choice> choices(all_choices.begin(), all_choices.end());
  if (question.facts().experts.empty()) std::erase(choices, Choice::expert);
  return choices;
}

/// What is fixed bounds where a choice may go; a start outside of it would have no neighbour.
void require_start_inside(const SearchSpace& fixed, const Strategy& start) {
  for (const SpaceAxis& one : space_axes()) {
    if (one.axis->means_something(start) && !one.allows(fixed, start))
      throw InputError({"--fix", one.name() + " is another one than the plan's",
                        "an axis with the plan's value among those allowed, which then stays within them", ""});
  }
}

std::vector<std::string> steps_between(const Strategy& start, const Strategy& other) {
  return chosen_steps(changes_between(start, other));
}

/// Choices that differ, that of recompute left out: a space joins what runs again to every plan that it allows.
std::size_t choices_but_recompute(const Strategy& start, Strategy other) {
  other.recompute = start.recompute;
  other.flash_attention = start.flash_attention;
  return steps_between(start, other).size();
}

/// Collects strategies of several searches, each once.
class StrategyNeighbours {
 public:
  StrategyNeighbours(const AroundRequest& request, const Task& task) : request_(request) {
    prepared_.questions = {request.start.question};
    options_.objective = request.search.objective;
    options_.top = request.search.top;
    options_.finalists = Finalists::closed_form;
    options_.refinement = Refinement::around_best;
    options_.threads = request.search.threads;
    options_.stop = task.stop;
    options_.known_blocks = &known_blocks_;
    SearchSpace fixed = space_from_text(request.search.fixes);
    require_start_inside(fixed, request.start.strategy);
    fixed.flash_attention = {request.start.strategy.flash_attention};
    prepared_.framework = chosen_framework(request.search.framework, prepared_.questions, fixed, StageSplit::even);
    prepared_.space = launchable(std::move(fixed), prepared_.framework.framework, request.start.question);
  }

  /// The best of a space, where it holds any.
  [[nodiscard]] std::vector<RankedStrategy> best_of(const SearchSpace& space) {
    if (is_empty(space, prepared_.questions)) return {};
    SearchResult result = plumbline::search(prepared_.questions, space, options_);
    complete_ = complete_ && result.complete;
    return std::move(result.best);
  }
  void look_among(const Choices& free) {
    for (RankedStrategy& one : best_of(near(space_around(request_.start.strategy, free, prepared_.space), free)))
      if (is_near(one.strategy) && seen_.insert(one.strategy).second) found_.push_back(std::move(one));
  }
  [[nodiscard]] std::vector<RankedStrategy> take() { return std::move(found_); }
  [[nodiscard]] const PreparedSearch& prepared() const { return prepared_; }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  [[nodiscard]] bool is_near(const Strategy& strategy) const {
    const std::size_t steps = steps_between(request_.start.strategy, strategy).size();
    return steps > 0 && steps <= static_cast<std::size_t>(request_.changes);
  }

  /// The space without what takes more changes: one choice, such as that of ZeRO with its shard group, may be several.
  [[nodiscard]] SearchSpace near(SearchSpace space, const Choices& free) const {
    const auto most = static_cast<std::size_t>(request_.changes) - (free.contains(Choice::recompute) ? 1 : 0);
    const std::int64_t batch = request_.start.question.training().global_batch;
    const std::int64_t devices = request_.start.question.devices();
    const auto is_plan = [=](const Strategy& s) {  // a recompute mode is asked about alone
      return s.devices() == devices && s.batch() == batch;
    };
    space.allows = [launches = std::move(space.allows), is_plan, most,
                    &start = request_.start.strategy](const Strategy& s) {
      if (launches && !launches(s)) return false;
      return !is_plan(s) || choices_but_recompute(start, s) <= most;
    };
    return space;
  }

  const AroundRequest& request_;
  PreparedSearch prepared_;
  SearchOptions options_;
  std::vector<BlockTables> known_blocks_;
  std::set<Strategy> seen_;
  std::vector<RankedStrategy> found_;
  bool complete_ = true;
};

Change change_to(const Strategy& strategy, const PricedQuestion& start, KnownPrograms& known) {
  return {steps_between(start.strategy, strategy), strategy, signed_plan(start.question, strategy, &known)};
}

Score score_of(const Plan& plan, Objective objective) {
  const bool is_sure = plan.verdict.fits && !plan.verdict.near_edge;
  return score(objective, is_sure ? MemoryFit::certain : MemoryFit::uncertain,
               to_picoseconds(Seconds(plan.prediction.step_time_s.expected)), plan.strategy.devices(),
               plan.prediction.peak_memory);
}

bool has_same_degrees(const Strategy& a, const Strategy& b) {
  const auto degrees = [](const Strategy& s) {
    return std::tuple(s.tensor_parallel, s.sequence_parallel, s.pipeline_stages, s.context_parallel, s.expert_parallel,
                      s.expert_tensor_parallel, s.micro_batch);
  };
  return degrees(a) == degrees(b);
}

/// Whether `other` serves as well: a part of the steps for no less, or on the same degrees no more of them for what
/// repetitions of a run differ by (planner/search/equivalent.h).
bool serves(const Change& other, const Change& change, Objective objective) {
  if (takes_part_of(other, change) && !is_better(change.plan, other.plan, objective)) return true;
  if (!has_same_degrees(other.strategy, change.strategy) || other.steps.size() > change.steps.size()) return false;
  if (score_of(other.plan, objective)[0] > score_of(change.plan, objective)[0]) return false;  // fits less surely
  if (other.steps.size() == change.steps.size() && !is_better(other.plan, change.plan, objective)) return false;
  return other.plan.prediction.step_time_s.expected <
         change.plan.prediction.step_time_s.expected * (1 + repeated_run_noise);
}

/// Best first; drops what others serve as well as.
std::vector<Change> ranked(const std::vector<Change>& changes, Objective objective, std::size_t most) {
  std::vector<Change> kept;
  for (const Change& change : changes)
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const Change& other) { return &other != &change && serves(other, change, objective); }))
      kept.push_back(change);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](const Change& a, const Change& b) { return is_better(a.plan, b.plan, objective); });
  if (kept.size() > most) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(most), kept.end());
  return kept;
}

void require_request(const AroundRequest& request) {
  if (request.changes < 1 || request.changes > most_changes)
    throw InputError({"--changes", std::to_string(request.changes) + " is out of range",
                      "1 to " + std::to_string(most_changes), ""});
  if (request.search.objective == Objective::fewest_gpus)
    throw InputError({"--objective", "the plan's GPUs stay as many as they are", "time or memory", ""});
}

}  // namespace

bool is_better(const Plan& one, const Plan& other, Objective objective) {
  if (one.verdict.fits != other.verdict.fits) return one.verdict.fits;
  return score_of(one, objective) < score_of(other, objective);
}

namespace {

/// The best with any number of changes, where it is better than the start and what is near.
std::optional<Change> best_of_whole_space(const AroundRequest& request, const AroundAnswer& answer,
                                          StrategyNeighbours& neighbours, KnownPrograms& known) {
  const std::vector<RankedStrategy> best = neighbours.best_of(neighbours.prepared().space);
  if (best.empty()) return std::nullopt;
  const Objective objective = request.search.objective;
  const Plan& near = answer.nearby.empty() ? answer.start : answer.nearby.front().plan;
  Change whole = change_to(best.front().strategy, request.start, known);
  if (!is_better(whole.plan, near, objective) || !is_better(whole.plan, answer.start, objective)) return std::nullopt;
  return whole;
}

}  // namespace

AroundAnswer search_around(const AroundRequest& request, const Task& task) {
  require_request(request);
  StrategyNeighbours neighbours(request, task);
  AroundAnswer answer{request.start.plan, neighbours.prepared().framework, request.changes, {}, std::nullopt, true};
  const std::vector<Choices> sets =
      sets_of(static_cast<std::size_t>(request.changes), choices_of(request.start.question));
  for (std::size_t i = 0; i < sets.size() && !task.is_stopped(); ++i) {
    neighbours.look_among(sets[i]);
    task.report({.phase = "choices", .done = static_cast<std::int64_t>(i) + 1, .total = std::ssize(sets)});
  }
  KnownPrograms known;  // of the start's question
  std::vector<Change> changes;
  for (const RankedStrategy& one : neighbours.take()) changes.push_back(change_to(one.strategy, request.start, known));
  answer.nearby = ranked(changes, request.search.objective, request.search.top);
  task.end("choices");
  const bool looks_further = request.whole_space == WholeSpace::always || answer.nearby.empty();
  if (looks_further && !task.is_stopped()) {
    answer.whole = best_of_whole_space(request, answer, neighbours, known);
    task.end("whole space");
  }
  answer.complete = neighbours.complete() && !task.is_stopped();
  return answer;
}

}  // namespace plumbline::session
