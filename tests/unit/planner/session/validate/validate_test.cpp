// Validation as a use-case: the published runs or somebody's own, followed, stopped, and names that no run bears.
#include "planner/session/validate/validate.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::session {
namespace {

RunSet set_named(const std::string& name) {
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == name) return set;
  FAIL("no set " << name);
  return {};
}

TEST_CASE("published runs and the same runs given as one's own are predicted alike", "[session]") {
  ValidationRequest published;
  published.filter.sources = {"zero_bubble"};
  const Validation of_catalogue = validate(published);
  const Validation own = validate({std::vector{set_named("zero_bubble")}, {}});
  REQUIRE(own.runs.size() > 10);
  REQUIRE(of_catalogue.runs.size() == own.runs.size());
  for (std::size_t i = 0; i < own.runs.size(); ++i) {
    CHECK(of_catalogue.runs[i].id == own.runs[i].id);
    CHECK(of_catalogue.runs[i].pair.predicted.expected == own.runs[i].pair.predicted.expected);
  }
  CHECK(own.complete);
}

TEST_CASE("a stopped validation answers with the runs until then, and says that it is not complete", "[session]") {
  const ValidationRequest request{std::vector{set_named("zero_bubble")}, {}};
  std::int64_t seen = 0;
  std::int64_t total = 0;
  Task task;
  task.stop = StopRequest([&] { return seen == 7; });
  task.progress = [&](const TaskProgress& now) { seen = now.done, total = now.total; };
  const Validation stopped = validate(request, task);
  CHECK_FALSE(stopped.complete);
  CHECK(seen == 7);
  CHECK(total == std::ssize(set_named("zero_bubble").runs));
  CHECK(stopped.runs.size() + stopped.skipped.size() <= 21);
  CHECK_FALSE(stopped.runs.empty());
  CHECK(stopped.runs.size() < validate(request).runs.size());
}

TEST_CASE("a source or device of no run is refused with the nearest name", "[session]") {
  ValidationRequest request{std::vector{set_named("zero_bubble")}, {{}, {"zero_buble"}}};
  CHECK_THROWS_WITH(validate(request), Catch::Matchers::ContainsSubstring("--source") &&
                                           Catch::Matchers::ContainsSubstring("nearest: zero_bubble"));
  request.filter = {{"A100-SXM-80G"}, {}};
  CHECK_THROWS_WITH(validate(request), Catch::Matchers::StartsWith("--device"));
}

TEST_CASE("assumptions of a source name it, and come before those that hold for all", "[session]") {
  const RunRuleTable all = assumptions();
  const std::size_t shared = run_assumptions().rules.size();
  REQUIRE(all.rules.size() > shared);
  for (std::size_t i = 0; i + shared < all.rules.size(); ++i) CHECK(all.rules[i].when.front().field == "rows");
  CHECK(all.rules.back().source == run_assumptions().rules.back().source);
}

}  // namespace
}  // namespace plumbline::session
