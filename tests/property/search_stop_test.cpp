// A search that is asked to stop at any of its looks: it answers soon, with plans of its own ranking, and accounts for
// all. A look comes before every unit of work, so looks after the stop count what was still worked on.

#include <atomic>
#include <limits>
#include <map>

#include "planner/session/search/search.h"
#include "tests/catch.h"
#include "tests/questions.h"
#include "tests/search_audit.h"

namespace plumbline {
namespace {

/// Asks for a stop at the n-th look, and from then on.
class StopAtLook {
 public:
  explicit StopAtLook(std::int64_t n) : n_(n) {}
  [[nodiscard]] StopRequest request() {
    return StopRequest([this] { return ++looks_ >= n_; });
  }
  [[nodiscard]] std::int64_t looks() const { return looks_; }
  [[nodiscard]] std::int64_t looks_after() const { return std::max<std::int64_t>(0, looks_ - n_); }

 private:
  std::int64_t n_;
  std::atomic<std::int64_t> looks_{0};
};

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
/// One for each phase and thread, and those between the parts of what ends.
constexpr std::int64_t most_looks_after = 12;

session::SearchRequest request_of(std::int32_t threads) {
  session::SearchRequest request;
  request.question = question_text("gpt2", "dgx-h100", 8, 1024, 64);
  request.fixes = "cp=1,micro-batch=1|4";
  request.top = 4;
  request.all = true;
  request.threads = threads;
  return request;
}

session::SearchAnswer stopped_search(const session::SearchRequest& request, StopAtLook& stop) {
  Task task;
  task.stop = stop.request();
  return session::search(request, task);
}

/// By closed form and simulation, what a whole search of every plan says.
std::map<std::string, Picoseconds> closed_forms() {
  session::SearchRequest request = request_of(1);
  request.top = 5'000;
  StopAtLook stop(never);
  std::map<std::string, Picoseconds> steps;
  for (const RankedStrategy& plan : stopped_search(request, stop).result.best)
    steps[to_text(plan.strategy) + std::to_string(plan.strategy.shard_group)] = plan.step_time;
  return steps;
}

void check_answer(const session::SearchAnswer& answer, const std::map<std::string, Picoseconds>& steps) {
  const SearchResult& result = answer.result;
  CHECK(accounted(result.audit) == result.audit.total);
  CHECK(answer.plans.size() == result.best.size());
  CHECK(result.equivalent.size() == result.best.size());
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    const RankedStrategy& plan = result.best[i];
    const auto known = steps.find(to_text(plan.strategy) + std::to_string(plan.strategy.shard_group));
    REQUIRE(known != steps.end());
    CHECK(plan.step_time == known->second);
    if (i > 0 && !plan.may_not_fit) CHECK(plan.ranking_step() >= result.best[i - 1].ranking_step());
  }
}

TEST_CASE("a search that is stopped at any look does little more and answers with what it has") {
  const std::int32_t threads = GENERATE(1, 2);
  const std::map<std::string, Picoseconds> steps = closed_forms();
  StopAtLook whole(never);
  const session::SearchAnswer best = stopped_search(request_of(threads), whole);
  CHECK(best.result.complete);
  CHECK(best.without_limits.has_value());
  CHECK(whole.looks() > 100);
  std::int64_t interrupted = 0;
  std::int64_t with_plans = 0;
  const std::int64_t step = threads == 1 ? 1 : 7;
  for (std::int64_t n = 1; n < whole.looks(); n += step) {
    CAPTURE(n, whole.looks());
    StopAtLook stop(n);
    const session::SearchAnswer answer = stopped_search(request_of(threads), stop);
    CHECK(stop.looks_after() <= most_looks_after * threads);
    check_answer(answer, steps);
    interrupted += answer.result.complete && answer.without_limits ? 0 : 1;
    with_plans += answer.plans.empty() ? 0 : 1;
  }
  CHECK(interrupted >= (whole.looks() - 1) / step * 9 / 10);
  CHECK(with_plans > 0);
}

TEST_CASE("every plan that is priced or simulated is looked before") {
  StopAtLook stop(never);
  session::SearchRequest request = request_of(1);
  request.framework = Framework::any;
  const session::SearchAnswer answer = stopped_search(request, stop);
  CHECK(stop.looks() > answer.result.audit.solved + static_cast<std::int64_t>(answer.plans.size()));
}

// Memory that Muon needs once a step was once searched for a byte at a time: over ten minutes, deaf to every stop.
TEST_CASE("a search over placed recompute and two optimizers ends, and every plan is accounted for") {
  session::SearchRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 360);
  request.recipes.optimizers = {Optimizer::adamw, Optimizer::muon};
  request.framework = Framework::any;
  request.threads = 1;
  const session::SearchAnswer answer = session::search(request, Task{});
  CHECK(answer.result.complete);
  CHECK(accounted(answer.result.audit) == answer.result.audit.total);
  CHECK(answer.plans.size() == answer.result.best.size());
  CHECK(!answer.plans.empty());
}

}  // namespace
}  // namespace plumbline
