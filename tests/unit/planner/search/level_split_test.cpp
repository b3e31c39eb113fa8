// Layers moved off the slowest pipeline rank, against all splits that there are.

#include "planner/search/level_split.h"

#include <algorithm>
#include <functional>

#include "core/plan/pipeline_schedule.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "planner/session/search/search.h"
#include "tests/catch.h"
#include "tests/questions.h"
#include "tests/search_audit.h"

namespace plumbline {
namespace {

Strategy pipeline(std::int32_t stages, std::int32_t virtual_stages, Schedule schedule) {
  Strategy s;
  s.pipeline_stages = stages;
  s.virtual_stages = virtual_stages;
  s.schedule = schedule;
  s.micro_batches = std::int64_t{4} * stages;
  return s;
}

/// What the slowest rank takes of a micro-batch, block by block.
Picoseconds slowest_rank(const Question& question, const Strategy& s, const std::vector<BlockCost>& blocks,
                         const ChunkLayers& layers) {
  std::vector<Picoseconds> ranks(static_cast<std::size_t>(s.pipeline_stages), Picoseconds(0));
  std::size_t chunk = 0;
  std::int32_t held = 0;
  for (const BlockId id : question.graph().sequence()) {
    const bool is_layer = question.graph().block(id).kind() == BlockKind::layer;
    while (is_layer && held == layers[chunk]) ++chunk, held = 0;
    if (is_layer) ++held;
    if (question.graph().block(id).kind() == BlockKind::output) chunk = layers.size() - 1;
    const std::int32_t rank = rank_of_stage(placement(s.schedule), s.pipeline_stages, static_cast<std::int32_t>(chunk));
    const BlockCost& block = blocks[static_cast<std::size_t>(id.index())];
    ranks[static_cast<std::size_t>(rank)] += block.forward.total() + block.backward.total();
  }
  return *std::max_element(ranks.begin(), ranks.end());
}

/// Calls `visit` with every way to divide `layers` over chunks; the first and the last may hold none.
void for_each_split(std::int32_t layers, std::size_t chunks, const std::function<void(const ChunkLayers&)>& visit) {
  ChunkLayers split;
  const std::function<void(std::int32_t)> divide = [&](std::int32_t left) {
    const bool is_last = split.size() + 1 == chunks;
    for (std::int32_t own = is_last ? left : split.empty() ? 0 : 1; own <= left; ++own) {
      split.push_back(own);
      is_last ? visit(split) : divide(left - own);
      split.pop_back();
    }
  };
  divide(layers);
}

// 16 layers and a head over 128 256 tokens, which takes as long as four of them.
TEST_CASE("no split of equal layers has a faster slowest rank than the level one") {
  const Strategy s = GENERATE(pipeline(2, 1, Schedule::one_f_one_b), pipeline(3, 1, Schedule::one_f_one_b),
                              pipeline(5, 1, Schedule::one_f_one_b), pipeline(6, 1, Schedule::one_f_one_b),
                              pipeline(2, 2, Schedule::interleaved), pipeline(2, 3, Schedule::interleaved),
                              pipeline(3, 2, Schedule::interleaved), pipeline(5, 1, Schedule::zb_h1),
                              pipeline(3, 2, Schedule::zbv), pipeline(2, 2, Schedule::dualpipev));
  const Question question =
      question_of("llama-3.2-1b", "dgx-h100", s.pipeline_stages, 4096, std::int64_t{4} * s.pipeline_stages);
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const ChunkLayers even = even_layers(question.graph(), s.chunks());
  const auto level = level_split(LayerTimes(question.graph(), blocks), s, even);
  CAPTURE(to_text(s));
  REQUIRE(level);
  const Picoseconds slowest = slowest_rank(question, s, blocks, *level);
  CHECK(slowest < slowest_rank(question, s, blocks, even));
  int splits = 0;
  bool is_beaten = false;
  for_each_split(16, even.size(), [&](const ChunkLayers& split) {
    ++splits;
    is_beaten = is_beaten || slowest_rank(question, s, blocks, split) < slowest;
  });
  CHECK(splits >= 17);
  CHECK_FALSE(is_beaten);
}

// 80 layers on 4 ranks are 20 each; the head over 32 000 tokens takes a third of a layer.
TEST_CASE("ranks that are level as the rule splits keep its split") {
  const Strategy s = pipeline(4, 1, Schedule::one_f_one_b);
  const Question question = question_of("llama-2-70b", "dgx-h100", 4, 4096, 16);
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const ChunkLayers even = even_layers(question.graph(), 4);
  CHECK(even == ChunkLayers{20, 20, 20, 20});
  CHECK_FALSE(level_split(LayerTimes(question.graph(), blocks), s, even));
}

TEST_CASE("layers of several kinds are levelled no worse than the rule splits them") {
  const Strategy s = GENERATE(pipeline(4, 1, Schedule::one_f_one_b), pipeline(3, 2, Schedule::interleaved),
                              pipeline(8, 1, Schedule::one_f_one_b));
  const std::string model = GENERATE("deepseek-v2-lite", "gemma-3-1b", "llama-4-scout");
  const Question question =
      question_of(model, "dgx-h100", s.pipeline_stages, 4096, std::int64_t{4} * s.pipeline_stages);
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const ChunkLayers even = even_layers(question.graph(), s.chunks());
  const auto level = level_split(LayerTimes(question.graph(), blocks), s, even);
  if (!level) return;
  Strategy levelled = s;
  levelled.layers_per_stage = *level;
  CHECK(!first_violation(levelled, question.training(), question.facts(), question.limits()));
  CHECK(slowest_rank(question, s, blocks, *level) < slowest_rank(question, s, blocks, even));
}

session::SearchRequest request_of(std::optional<StageSplit> split) {
  session::SearchRequest request;
  request.question = question_text("llama-3.1-8b", "dgx-h100", 8, 8192, 64);
  request.fixes = "pp=4";
  request.split = split;
  request.top = 1;
  request.limits_cost = false;
  return request;
}

// By rule the best takes 8.34 s: 8 layers on each rank, and a head as long as 2.4 layers.
TEST_CASE("a search levels the ranks of a pipeline unless the rule's split is asked for") {
  const session::SearchAnswer level = session::search(request_of(std::nullopt));
  const session::SearchAnswer even = session::search(request_of(StageSplit::even));
  REQUIRE(!level.plans.empty());
  REQUIRE(!even.plans.empty());
  CHECK(even.result.best.front().strategy.layers_per_stage.empty());
  CHECK(!level.result.best.front().strategy.layers_per_stage.empty());
  CHECK(level.plans.front().prediction.step_time_s.expected < 7.522);
  CHECK(level.plans.front().prediction.step_time_s.expected <
        0.92 * even.plans.front().prediction.step_time_s.expected);
}

// 16 layers on 3 or 6 stages; the head takes as long as four of them.
TEST_CASE("a search levels the ranks of schedules that split the backward") {
  session::SearchRequest request;
  request.question = question_text("llama-3.2-1b", "dgx-h100", 24, 4096, 360);
  request.framework = Framework::torchtitan;
  request.fixes = "pp=3|6";
  const session::SearchAnswer level = session::search(request);
  request.split = StageSplit::even;
  const session::SearchAnswer even = session::search(request);
  REQUIRE(!level.plans.empty());
  REQUIRE(!even.plans.empty());
  const Strategy& best = level.result.best.front().strategy;
  CHECK(splits_backward(best.schedule));
  CHECK(!best.layers_per_stage.empty());
  CHECK(level.plans.front().prediction.step_time_s.expected < 0.9 * even.plans.front().prediction.step_time_s.expected);
  CHECK(accounted(level.result.audit) == level.result.audit.total);
}

TEST_CASE("a search places recompute on levelled pipelines, and accounts for every plan") {
  session::SearchRequest request;
  request.question = question_text("gemma-2-9b", "a6000-pcie", 8, 4096, 64);
  request.framework = Framework::any;
  request.fixes = "tp=1,dp=1,cp=1,pp=8,micro-batch=1,schedule=dualpipev|1f1b";
  const session::SearchAnswer level = session::search(request);
  REQUIRE(!level.plans.empty());
  const Strategy& best = level.result.best.front().strategy;
  CHECK(best.recompute.mode == RecomputeMode::placed);
  CHECK(!best.layers_per_stage.empty());
  CHECK(level.result.audit.unvisited == 0);
  CHECK(accounted(level.result.audit) == level.result.audit.total);
}

TEST_CASE("a framework that divides layers evenly is offered no other split") {
  session::SearchRequest request = request_of(std::nullopt);
  request.framework = Framework::deepspeed;
  const session::SearchAnswer answer = session::search(request);
  REQUIRE(!answer.plans.empty());
  for (const RankedStrategy& plan : answer.result.best) CHECK(plan.strategy.layers_per_stage.empty());
}

}  // namespace
}  // namespace plumbline
