// Why a plan costs what it costs; followed and stopped on the way.

#include "planner/session/explain/explain.h"

#include "planner/explain/bottleneck.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// Asks for a stop once something was done.
struct Stopped {
  std::stop_source source;
  Task task;
  explicit Stopped(std::int64_t after) {
    task.stop = source.get_token();
    task.progress = [this, after](const TaskProgress& progress) {
      if (progress.done >= after) source.request_stop();
    };
  }
};

TEST_CASE("an explanation holds the plan, its bottleneck, one step along each axis and the assumed numbers") {
  const PricedQuestion asked = estimate(small_request());
  std::vector<std::string> ended;
  Task task;
  task.end_of_phase = [&](std::string_view phase) { ended.emplace_back(phase); };
  const Explanation answer = explain(asked, std::nullopt, task);
  CHECK(answer.complete);
  CHECK(answer.plan.strategy == asked.strategy);
  CHECK(!answer.against);
  CHECK(answer.bottleneck == bottleneck_sentence(asked.plan));
  CHECK(answer.changes.size() == single_steps(asked.question, asked.strategy).size());
  CHECK(answer.assumed.size() == assumed_numbers_that_matter(asked.question, asked.strategy).size());
  CHECK(ended == std::vector<std::string>{"changes", "assumed numbers"});
}

TEST_CASE("an explanation may hold a plan against another one") {
  const PricedQuestion asked = estimate(small_request());
  const PricedQuestion other = estimate(too_large_request());
  const Explanation answer = explain(asked, other.plan);
  REQUIRE(answer.against);
  CHECK(answer.against->model.name == "llama-3-8b");
}

TEST_CASE("an explanation that is stopped holds what was looked at by then") {
  const PricedQuestion asked = estimate(small_request());
  Stopped early(2);
  const Explanation answer = explain(asked, std::nullopt, early.task);
  CHECK(!answer.complete);
  CHECK(answer.changes.size() <= 2);
  CHECK(answer.assumed.empty());
  CHECK(!answer.bottleneck.empty());
}

}  // namespace
}  // namespace plumbline::session
