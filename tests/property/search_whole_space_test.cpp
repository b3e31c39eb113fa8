// Plans that exist are found: each named here was faster than what a search of a smaller space answered.

#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "planner/session/search.h"
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

TEST_CASE("virtual stages that do not divide the layers are searched") {
  // 28 layers, an embedding and a head on 16 chunks.
  QuestionText text = question_text("qwen2-57b-a14b", "a6000-pcie", 64, 1024, 256);
  text.training.optimizer = Optimizer::momentum;
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

TEST_CASE("micro-batches grow while memory holds them") {
  const session::SearchAnswer answer = found(question_text("resnet-50", "dgx-h100", 8, 1, 4096), std::nullopt);
  REQUIRE(!answer.result.best.empty());
  CHECK(answer.result.best.front().strategy.micro_batch > 16);
}

}  // namespace
}  // namespace plumbline
