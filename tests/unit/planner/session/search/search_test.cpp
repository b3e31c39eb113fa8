// A request in, ranked plans out; followed and stopped on its way.

#include "planner/session/search/search.h"

#include <set>

#include "core/io/plan_json.h"
#include "planner/search/equivalent.h"
#include "planner/session/estimate.h"
#include "tests/catch.h"
#include "tests/search_audit.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

SearchRequest small_search() {
  SearchRequest request;
  request.question = small_request(16).question;
  request.top = 3;
  request.threads = 1;
  request.framework = Framework::any;
  request.all = true;
  return request;
}

TEST_CASE("a search answers with plans priced in full, best first") {
  const SearchAnswer answer = search(small_search());
  CHECK(answer.result.complete);
  REQUIRE(answer.plans.size() == 3);
  CHECK(!answer.nearest_miss);
  CHECK(answer.request.recipes.precisions == std::vector{PrecisionRecipe::bf16});
  CHECK(answer.request.question.training.sequence_length == 1024);  // the model's own, filled in
  for (std::size_t i = 0; i < answer.plans.size(); ++i)
    CHECK(answer.plans[i].strategy == answer.result.best[i].strategy);
}

TEST_CASE("the best plan of a search is what an estimate of it says") {
  const SearchAnswer answer = search(small_search());
  REQUIRE(!answer.plans.empty());
  Plan best = answer.plans.front();
  best.prediction.simulated_step.reset();  // an estimate does not simulate
  PlanRequest request;
  request.plan = best;
  CHECK(to_json_text(to_json(estimate(request).plan)) == to_json_text(to_json(best)));
}

TEST_CASE("equivalent plans are one row, unless all are asked for") {
  SearchRequest request = small_search();
  request.top = 10;
  const SearchAnswer all = search(request);
  for (const auto& others : all.result.equivalent) CHECK(others.empty());
  request.all = false;
  const SearchAnswer folded = search(request);
  REQUIRE(folded.result.equivalent.size() == folded.plans.size());
  CHECK(folded.plans.front().strategy == all.plans.front().strategy);
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < folded.plans.size(); ++i)
    for (const RankedStrategy& other : folded.result.equivalent[i]) {
      CHECK(is_like(other, folded.result.best[i]));
      ++hidden;
    }
  CHECK(hidden > 0);
  for (std::size_t i = 0; i < folded.plans.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(!is_like(folded.result.best[i], folded.result.best[j]));
}

TEST_CASE("fixed axes and the precisions asked for bound the space") {
  SearchRequest request = small_search();
  request.fixes = "tp=2,zero=1";
  request.recipes.precisions = {PrecisionRecipe::fp8};
  for (const Plan& plan : search(request).plans) {
    CHECK(plan.strategy.tensor_parallel == 2);
    CHECK(plan.strategy.zero_stage == 1);
    CHECK(plan.training.precision == PrecisionRecipe::fp8);
  }
}

TEST_CASE("several optimizers, ranks of adapters and kernels of attention are searched in one ranking") {
  SearchRequest request = small_search();
  request.recipes.optimizers = {Optimizer::adamw, Optimizer::sgd};
  request.recipes.lora_ranks = {4, 16};
  request.flash_attention = {FlashAttention::on, FlashAttention::off};
  request.fixes = "tp=1,pp=1,cp=1,mbs=1,zero=0,recompute=none";
  request.top = 100;
  const SearchAnswer answer = search(request);
  std::set<std::tuple<Optimizer, std::int64_t, FlashAttention>> found;
  double step = 0;
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const Plan& plan = answer.plans[i];
    found.emplace(plan.training.optimizer, plan.training.adaptation.lora_rank, plan.strategy.flash_attention);
    CHECK(answer.result.best[i].optimizer == plan.training.optimizer);
    CHECK(answer.result.best[i].lora_rank == plan.training.adaptation.lora_rank);
    CHECK(to_seconds(answer.result.best[i].ranking_step()).value() >= step);
    step = to_seconds(answer.result.best[i].ranking_step()).value();
  }
  CHECK(found.size() == 8);
  REQUIRE(answer.ties.simplest < answer.plans.size());
  CHECK(answer.plans[answer.ties.simplest].training.optimizer == answer.plans.front().training.optimizer);
}

TEST_CASE("an optimizer among several that a recipe cannot have is refused") {
  SearchRequest request = small_search();
  request.recipes.optimizers = {Optimizer::adamw, Optimizer::sgd};
  request.question.training.optimizer_format = NumberFormat::bf16;
  CHECK(refusal([&] { return prepare_search(request); }).find("--optimizer-precision: sgd keeps no moments") == 0);
}

TEST_CASE("where nothing fits the nearest miss is priced") {
  SearchRequest request = small_search();
  request.question = too_large_request().question;
  request.question.devices = 1;
  request.question.training.global_batch = 1;
  const SearchAnswer answer = search(request);
  CHECK(answer.plans.empty());
  REQUIRE(answer.nearest_miss);
  CHECK(!answer.nearest_miss->verdict.fits);
}

TEST_CASE("a search tells how far it is and which phases ended") {
  std::set<std::string> told;
  std::vector<std::string> ended;
  Task task;
  task.progress = [&](const TaskProgress& progress) { told.emplace(progress.phase); };
  task.end_of_phase = [&](std::string_view phase) { ended.emplace_back(phase); };
  (void)search(small_search(), task);
  CHECK(told == std::set<std::string>{"bounding", "pricing", "simulating"});
  CHECK(ended == std::vector<std::string>{"search", "pricing"});
}

TEST_CASE("a search that is stopped answers with the best so far") {
  std::stop_source source;
  Task task;
  task.stop = source.get_token();
  task.progress = [&](const TaskProgress& progress) {
    if (progress.phase == "bounding") source.request_stop();
  };
  SearchRequest request = small_search();
  request.pareto = true;
  const SearchAnswer answer = search(request, task);
  CHECK(!answer.result.complete);
  CHECK(!answer.plans.empty());
  CHECK(accounted(answer.result.audit) == answer.result.audit.total);
}

TEST_CASE("what is wrong with a search is known before it begins") {
  SearchRequest request = small_search();
  request.fixes = "ttp=2";
  CHECK(refusal([&] { return prepare_search(request); }) == refusal([] { return space_from_text("ttp=2"); }));
  request = small_search();
  request.top = 0;
  CHECK(refusal([&] { return prepare_search(request); }) == "top: 0 is out of range; expected 1 to 10000");
  request = small_search();
  request.threads = -1;
  CHECK(refusal([&] { return prepare_search(request); }) == "threads: -1 is out of range; expected 0 to 4096");
  request = small_search();
  request.question.machine = "dgx-a100-80g";
  request.recipes.precisions = {PrecisionRecipe::fp8};
  CHECK(refusal([&] { return prepare_search(request); }).find("--precision: fp8 multiplies in ") == 0);
  request = small_search();
  request.question.training.global_batch = 0;
  CHECK(refusal([&] { return prepare_search(request); }) ==
        "global batch: 0 is out of range; expected 1 to 1000000000; nearest: 1");
}

}  // namespace
}  // namespace plumbline::session
