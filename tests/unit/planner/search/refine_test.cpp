// The best plans of a search, improved between the values that its space holds.

#include "planner/search/refine.h"

#include "planner/search/search.h"
#include "tests/catch.h"
#include "tests/questions.h"
#include "tests/search_audit.h"

namespace plumbline {
namespace {

SearchResult found(const Question& question, const std::string& fixes, Refinement refinement,
                   std::int32_t threads = 1) {
  SearchOptions options;
  options.finalists = Finalists::closed_form;
  options.refinement = refinement;
  options.threads = threads;
  return search({question}, space_from_text(fixes), options);
}

// 1 536 sequences on 16 data-parallel ranks are 96 each, which 3 and 6 divide.
const Question& gpt3() {
  static const Question question = question_of("gpt3-175b", "dgx-a100-80g", 512, 2048, 1536);
  return question;
}
constexpr const char* degrees = "tp=8,pp=4,cp=1,recompute=none|selective|full,schedule=1f1b|interleaved";

TEST_CASE("a refined search finds faster plans between the values of its space, and counts them apart") {
  const SearchResult plain = found(gpt3(), degrees, Refinement::none);
  const SearchResult refined = found(gpt3(), degrees, Refinement::around_best);
  REQUIRE(!plain.best.empty());
  CHECK(refined.best.front().step_time < plain.best.front().step_time);
  CHECK(refined.best.front().strategy.micro_batch == 3);
  CHECK(plain.audit.refined == 0);
  CHECK(refined.audit.refined > 0);
  CHECK(refined.audit.total == plain.audit.total);
  CHECK(accounted(refined.audit) == refined.audit.total);
  const Strategy& best = refined.best.front().strategy;
  CHECK(!first_violation(best, gpt3().training(), gpt3().facts(), gpt3().limits()));
}

TEST_CASE("a refined search finds the same on any number of threads") {
  const SearchResult one = found(gpt3(), degrees, Refinement::around_best);
  const SearchResult three = found(gpt3(), degrees, Refinement::around_best, 3);
  REQUIRE(one.best.size() == three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) CHECK(one.best[i].strategy == three.best[i].strategy);
  CHECK(one.audit.refined == three.audit.refined);
}

TEST_CASE("a plan that is found again stands once among the best") {
  SearchOptions options;
  options.top = 60;
  options.refinement = Refinement::around_best;
  options.threads = 1;
  const std::vector<RankedStrategy> best = search({gpt3()}, space_from_text(degrees), options).best;
  REQUIRE(best.size() > 20);
  for (std::size_t i = 1; i < best.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(best[i].strategy != best[j].strategy);
}

TEST_CASE("what is fixed is not refined") {
  const std::string fixes = std::string(degrees) + ",mbs=4";
  for (const RankedStrategy& plan : found(gpt3(), fixes, Refinement::around_best).best)
    CHECK(plan.strategy.micro_batch == 4);
}

TEST_CASE("of each shape the best plan is refined, the best shape first") {
  BestOfShapes shapes;
  RankedStrategy plan;
  const auto consider = [&](std::int64_t micro_batch, std::int32_t virtual_stages, std::int64_t step) {
    plan.strategy.micro_batch = micro_batch;
    plan.strategy.virtual_stages = virtual_stages;
    plan.step_time = Picoseconds(step);
    plan.score = score(Objective::step_time, MemoryFit::certain, plan.step_time, 8, Bytes(0));
    shapes.consider(plan);
  };
  consider(1, 1, 30);
  consider(2, 2, 20);
  consider(1, 3, 10);
  consider(2, 1, 25);
  const std::vector<RankedStrategy> ranked = shapes.ranked();
  REQUIRE(ranked.size() == 2);
  CHECK(ranked[0].strategy.virtual_stages == 3);
  CHECK(ranked[1].strategy.virtual_stages == 2);
}

}  // namespace
}  // namespace plumbline
