// The changes around a strategy, against every strategy of the space.

#include "planner/session/search/around.h"

#include <algorithm>

#include "planner/explain/strategy_changes.h"
#include "planner/session/launchable.h"
#include "planner/session/search/around_words.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

AroundRequest around(const StrategyRequest& start, std::int32_t changes) {
  AroundRequest request{estimate(start), {}};
  request.search.framework = Framework::any;
  request.search.threads = 1;
  request.changes = changes;
  return request;
}

StrategyRequest start_of(std::int64_t devices, const char* model = "gpt2") {
  StrategyRequest request = small_request(devices);
  request.question.model = model;
  request.question.training.sequence_length = 512;
  request.question.training.global_batch = 120;
  request.strategy.strategy.micro_batch = 5;
  return request;
}

/// The fastest fitting strategy of the whole space that differs in at most so many choices, priced one by one.
double brute_force(const AroundRequest& request) {
  const SearchSpace space = launchable({}, Framework::any, request.start.question);
  const SpaceEnumerator enumerator(request.start.question, space);
  double best = 1e300;
  enumerator.for_each_family([&](const Strategy& family, const Violation* violation, std::int64_t) {
    if (violation != nullptr) return;
    for (const Strategy& one : enumerator.leaves(family)) {
      const std::size_t steps = chosen_steps(changes_between(request.start.strategy, one)).size();
      if (steps == 0 || steps > static_cast<std::size_t>(request.changes)) continue;
      const Plan plan = signed_plan(request.start.question, one);
      if (plan.verdict.fits && !plan.verdict.near_edge) best = std::min(best, plan.prediction.step_time_s.expected);
    }
  });
  return best;
}

TEST_CASE("the best change is at least as good as the best of all strategies within so many") {
  for (const std::int64_t devices : {3, 6, 8}) {
    for (const std::int32_t changes : {1, 2}) {
      INFO(devices << " GPUs, " << changes << " changes");
      const AroundRequest request = around(start_of(devices), changes);
      const AroundAnswer answer = search_around(request);
      REQUIRE(!answer.nearby.empty());
      // Refinement looks between the values of the space, so it may find better ones.
      CHECK(answer.nearby.front().plan.prediction.step_time_s.expected <= brute_force(request) * (1 + 1e-9));
    }
  }
}

TEST_CASE("every change is within the number asked for, fits, and says what it changes") {
  const AroundRequest request = around(start_of(6), 2);
  const AroundAnswer answer = search_around(request);
  for (const Change& change : answer.nearby) {
    CHECK(change.steps == chosen_steps(changes_between(request.start.strategy, change.strategy)));
    CHECK(change.steps.size() <= 2);
    CHECK(!change.steps.empty());
    CHECK(change.plan.verdict.fits);
  }
  for (std::size_t i = 1; i < answer.nearby.size(); ++i)
    CHECK(!is_better(answer.nearby[i].plan, answer.nearby[i - 1].plan, Objective::step_time));
}

TEST_CASE("what does not fit is changed until it does") {
  const AroundAnswer answer = search_around(around(too_large_request(), 1));
  REQUIRE(!answer.start.verdict.fits);
  REQUIRE(!answer.nearby.empty());
  CHECK(answer.nearby.front().plan.verdict.fits);
  const std::vector<std::string> words = present::around_words(answer, Objective::step_time);
  CHECK_THAT(words.front(), Catch::Matchers::StartsWith("Best within one change: step time "));
}

TEST_CASE("a fixed axis stays within its values") {
  AroundRequest request = around(start_of(8), 2);
  request.search.fixes = "tp=1,zero=0|1";
  for (const Change& change : search_around(request).nearby) {
    CHECK(change.strategy.tensor_parallel == 1);
    CHECK(change.strategy.zero_stage <= 1);
  }
  request.search.fixes = "tp=2";
  CHECK(refusal([&] { return search_around(request); }) ==
        "--fix: tp is another one than the plan's; expected an axis with the plan's value among those allowed, which "
        "then stays within them");
}

TEST_CASE("around the best strategy nothing is better") {
  SearchRequest search;
  search.question = small_request(8).question;
  search.framework = Framework::any;
  search.top = 1;
  const SearchAnswer best = session::search(search);
  StrategyRequest start = small_request(8);
  start.strategy = {best.plans.front().strategy, true, true, true};
  const AroundAnswer answer = search_around(around(start, 1));
  const double now = answer.start.prediction.step_time_s.expected;
  // The search ranks by simulation, this by closed form: what is better by more than their difference was missed.
  for (const Change& change : answer.nearby) CHECK(change.plan.prediction.step_time_s.expected > 0.98 * now);
}

TEST_CASE("a stop leaves what was found, and numbers out of range are refused") {
  Task task;
  int looked = 0;
  task.stop = StopRequest([&] { return looked > 2; });
  task.progress = [&](const TaskProgress&) { ++looked; };
  const AroundAnswer answer = search_around(around(start_of(8), 2), task);
  CHECK(!answer.complete);
  AroundRequest request = around(start_of(8), 0);
  CHECK(refusal([&] { return search_around(request); }) == "--changes: 0 is out of range; expected 1 to 4");
  request = around(start_of(8), 1);
  request.search.objective = Objective::fewest_gpus;
  CHECK_THAT(refusal([&] { return search_around(request); }), Catch::Matchers::StartsWith("--objective: "));
}

}  // namespace
}  // namespace plumbline::session
