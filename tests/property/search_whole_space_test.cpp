// Plans that exist are found: each named here was faster than what a search of a smaller space answered.

#include <algorithm>

#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "planner/question/noise.h"
#include "planner/session/search/search.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

session::SearchAnswer found(const QuestionText& text, std::optional<Framework> framework) {
  session::SearchRequest request;
  request.question = text;
  request.framework = framework;
  request.top = 1;
  request.threads = 2;
  return session::search(request);
}

Picoseconds simulated_step_of(const QuestionText& text, const Strategy& strategy) {
  const Question question(text);
  require_legal(strategy, question);
  CHECK(evaluate(question, strategy).verdict.fits);
  return simulated(question, strategy, {Granularity::chunk, {}, {}, Extent::informative}).simulation.step();
}

/// Of the first row's plans: the plainest of those that are as fast stands for them.
Picoseconds fastest_of_first(const SearchResult& result) {
  Picoseconds fastest = result.best.front().ranking_step();
  for (const RankedStrategy& other : result.equivalent.front()) fastest = std::min(fastest, other.ranking_step());
  return fastest;
}

TEST_CASE("virtual stages that do not divide the layers are searched") {
  // 28 layers, an embedding and a head on 16 chunks.
  QuestionText text = question_text("qwen2-57b-a14b", "a6000-pcie", 64, 1024, 256);
  text.training.optimizer = Optimizer::momentum;
  text.stack = "megatron-core-0.12";
  Strategy named;
  named.tensor_parallel = 2;
  named.sequence_parallel = SequenceParallel::on;
  named.pipeline_stages = 8;
  named.expert_parallel = 8;
  named.data_parallel = 4;
  named.schedule = Schedule::interleaved;
  named.virtual_stages = 2;
  named.micro_batches = 64;
  const session::SearchAnswer answer = found(text, std::nullopt);
  REQUIRE(!answer.result.best.empty());
  CHECK(answer.result.best.front().ranking_step() <= simulated_step_of(text, named));
}

TEST_CASE("schedules that split the backward are searched where the framework has them") {
  const QuestionText text = question_text("llama-3-70b", "h100-ethernet-100g", 64, 4096, 64);
  Strategy named;
  named.tensor_parallel = 4;
  named.sequence_parallel = SequenceParallel::on;
  named.pipeline_stages = 8;
  named.data_parallel = 2;
  named.zero_stage = 1;
  named.shard_group = 2;
  named.schedule = Schedule::dualpipev;
  named.virtual_stages = 2;
  named.micro_batches = 32;
  const session::SearchAnswer any = found(text, Framework::any);
  REQUIRE(!any.result.best.empty());
  CHECK(any.result.best.front().ranking_step() <= simulated_step_of(text, named));
  // Megatron-LM has none of them, and what they would gain is said.
  const session::SearchAnswer megatron = found(text, std::nullopt);
  REQUIRE(!megatron.result.best.empty());
  CHECK(!splits_backward(megatron.result.best.front().strategy.schedule));
  REQUIRE(megatron.without_limits);
  REQUIRE(megatron.without_limits->plan);
  CHECK(splits_backward(megatron.without_limits->plan->strategy.schedule));
}

TEST_CASE("uneven counts of virtual stages are tried around the best plans") {
  // The README's question: 80 layers, an embedding and a head on 28 chunks.
  const QuestionText text = question_text("llama-3-70b", "dgx-h100", 64, 8192, 512);
  Strategy named;
  named.tensor_parallel = 4;
  named.sequence_parallel = SequenceParallel::on;
  named.context_parallel = 2;
  named.pipeline_stages = 4;
  named.data_parallel = 2;
  named.zero_stage = 1;
  named.shard_group = 4;
  named.schedule = Schedule::interleaved;
  named.virtual_stages = 7;
  named.micro_batches = 256;
  const session::SearchAnswer answer = found(text, std::nullopt);
  REQUIRE(!answer.result.best.empty());
  CHECK(fastest_of_first(answer.result) <= simulated_step_of(text, named));
  CHECK(answer.result.audit.refined > 0);
}

/// The least step by closed form of every plan of four stages with two chunks each that surely fits.
std::optional<Picoseconds> least_of_four_stages(const Question& question) {
  std::optional<Picoseconds> least;
  const std::int64_t ranks = question.devices() / 4;
  const auto consider = [&](const Strategy& s) {
    if (first_violation(s, question.training(), question.facts(), question.limits())) return;
    if (!launches(record_of(Framework::megatron_lm), s, NetworkFacts{})) return;
    const Plan plan = evaluate(question, s);
    if (!plan.verdict.fits || plan.verdict.near_edge) return;
    least = std::min(least.value_or(Picoseconds::largest()), plan.prediction.time.total());
  };
  const auto share = [&](Strategy s) {
    for (const RecomputeMode mode : {RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full})
      for (s.zero_stage = 0; s.zero_stage <= 3; ++s.zero_stage)
        for (s.shard_group = 1; s.shard_group <= s.gradient_ranks(); s.shard_group *= 2) {
          s.recompute.mode = mode;
          consider(s);
        }
  };
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = Schedule::interleaved;
  s.virtual_stages = 2;
  for (s.tensor_parallel = 1; s.tensor_parallel <= ranks; s.tensor_parallel *= 2)
    for (s.context_parallel = 1; std::int64_t{s.context_parallel} * s.tensor_parallel <= ranks;
         s.context_parallel *= 2) {
      s.data_parallel = static_cast<std::int32_t>(ranks / s.tensor_parallel / s.context_parallel);
      s.sequence_parallel = s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
      const std::int64_t batch = question.training().global_batch / s.data_parallel;
      for (s.micro_batch = 1; s.micro_batch <= 8; ++s.micro_batch) {
        s.micro_batches = batch / s.micro_batch;
        share(s);
      }
    }
  return least;
}

TEST_CASE("of four stages with two virtual stages nothing that can be estimated is faster than what is found") {
  const auto [machine, devices, batch] =
      GENERATE(std::tuple{"dgx-h100", 8, 64}, std::tuple{"l40s-pcie", 16, 32},
               std::tuple{"h100-ethernet-100g", 32, 192}, std::tuple{"a6000-pcie", 16, 48});
  CAPTURE(machine, devices, batch);
  const QuestionText text = question_text("llama-3.1-8b", machine, devices, 8192, batch);
  const session::SearchAnswer answer = found(text, std::nullopt);
  REQUIRE(!answer.result.best.empty());
  const std::optional<Picoseconds> least = least_of_four_stages(Question(text));
  REQUIRE(least);
  CHECK(to_seconds(answer.result.best.front().ranking_step()).value() <=
        (1 + repeated_run_noise) * to_seconds(*least).value());
}

TEST_CASE("micro-batches grow while memory holds them") {
  const session::SearchAnswer answer = found(question_text("resnet-50", "dgx-h100", 8, 1, 4096), std::nullopt);
  REQUIRE(!answer.result.best.empty());
  CHECK(answer.result.best.front().strategy.micro_batch > 16);
}

}  // namespace
}  // namespace plumbline
