// Recompute placed on the ranks of real questions: fits, is never slower than a uniform mode, and with the split of the
// layers never slower than any other split.

#include "planner/checkpointing/placement.h"

#include "core/cost/pipeline_time.h"
#include "core/cost/stage_memory.h"
#include "planner/partition/placed_split.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Question question_of(const std::string& model, std::int64_t devices, std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-h100";
  text.devices = devices;
  text.training.sequence_length = 4096;
  text.training.global_batch = batch;
  return Question(text);
}

Strategy strategy_of(std::int32_t tp, std::int32_t pp, std::int32_t dp, std::int64_t m, std::int32_t zero) {
  Strategy s;
  s.tensor_parallel = tp;
  s.sequence_parallel = tp > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.pipeline_stages = pp;
  s.data_parallel = dp;
  s.micro_batches = m;
  s.zero_stage = zero;
  s.shard_group = zero > 0 ? dp : 1;
  s.schedule = pp > 1 ? Schedule::one_f_one_b : Schedule::none;
  return s;
}

Bytes heaviest(const Question& q, const Strategy& s, const std::vector<StageCost>& stages) {
  Bytes most(0);
  for (std::size_t rank = 0; rank < stages.size(); ++rank)
    most = std::max(most, stage_memory(stages[rank], s, q.training().formats(), q.training().optimizer,
                                       q.calibration().stack, static_cast<std::int32_t>(rank))
                              .device_total());
  return most;
}

struct Case {
  Question question;
  Strategy strategy;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({question_of("llama-2-7b", 8, 64), strategy_of(1, 4, 2, 32, 1)});
  all.push_back({question_of("llama-2-13b", 8, 64), strategy_of(2, 4, 1, 64, 0)});
  Strategy tight = strategy_of(2, 4, 1, 16, 0);
  tight.micro_batch = 4;
  all.push_back({question_of("llama-2-13b", 8, 64), tight});
  all.push_back({question_of("llama-3-8b", 8, 32), strategy_of(4, 2, 1, 32, 0)});
  Strategy interleaved = strategy_of(2, 4, 1, 64, 0);
  interleaved.schedule = Schedule::interleaved;
  interleaved.virtual_stages = 2;
  all.push_back({question_of("llama-2-13b", 8, 64), interleaved});
  return all;
}

TEST_CASE("placed recompute fits and is no slower than any uniform mode that fits") {
  int between = 0;  // none exceeds the memory, full wastes it, placed beats every mode that fits
  for (const Case& c : cases()) {
    const Question& q = c.question;
    const RecomputePlacer placer(q, c.strategy);
    const auto placement = placer.place(layout_of(q, c.strategy));
    INFO(q.text().model << ' ' << to_text(c.strategy));
    REQUIRE(placement);
    CHECK(heaviest(q, c.strategy, placement->costs()) <= q.capacity());
    bool exceeds = false;
    bool beats = true;
    const Picoseconds placed =
        q.step_pricer().price(StageTable(placement->layout, placement->costs()), c.strategy).total();
    for (const Recompute recompute : {Recompute{}, Recompute{RecomputeMode::selective, 1},
                                      Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::every_nth, 2}}) {
      Strategy s = c.strategy;
      s.recompute = recompute;
      const StageLayout layout = layout_of(q, s);
      const StageTable uniform(q.graph(), layout, placer.blocks());
      std::vector<StageCost> stages;
      for (std::size_t rank = 0; rank < uniform.size(); ++rank) stages.push_back(uniform[rank]);
      const bool fits = heaviest(q, s, stages) <= q.capacity();
      const Picoseconds time = q.step_pricer().price(uniform, s).total();
      INFO(to_text(recompute) << (fits ? " fits" : " does not fit"));
      if (fits) CHECK(placed <= time);
      if (recompute.mode == RecomputeMode::none && fits) CHECK(placed == time);
      if (recompute.mode == RecomputeMode::none) exceeds = !fits;
      if (fits) beats = beats && placed < time;
    }
    if (exceeds && beats) ++between;
  }
  CHECK(between > 0);
}

TEST_CASE("a budget is the largest load that fits") {
  const Case c = std::move(cases().front());
  const RecomputePlacer placer(c.question, c.strategy);
  const StageLayout layout = layout_of(c.question, c.strategy);
  const StageTable table(c.question.graph(), layout, placer.blocks());
  StageCost loaded = table[0];
  loaded.saved = Bytes(0);
  loaded.working = placer.budget(table[0], 0);
  CHECK(heaviest(c.question, c.strategy, {loaded}) <= c.question.capacity());
  loaded.working += Bytes(2);
  CHECK(heaviest(c.question, c.strategy, {loaded}) > c.question.capacity());
}

/// The makespan that the split's search minimises.
Picoseconds makespan(const Placement& placement, const std::vector<Picoseconds>& latency, std::int64_t m) {
  std::vector<Picoseconds> forward, backward;
  for (const PlacedStage& stage : placement.stages) {
    forward.push_back(stage.cost.forward_total());
    backward.push_back(stage.cost.backward_total());
  }
  return one_f_one_b_makespan({forward, backward, latency}, m);
}

TEST_CASE("no split with recompute placed is faster than the one that is found") {
  for (const std::int32_t pp : {2, 3, 4}) {
    const Question q = question_of("llama-2-13b", 2 * pp, 16 * pp);
    Strategy s = strategy_of(2, pp, 1, 4 * pp, 0);
    s.micro_batch = 4;
    const RecomputePlacer placer(q, s);
    const auto found = best_placed_split(placer);
    INFO("pp " << pp);
    REQUIRE(found);
    CHECK(found->proven);
    CHECK(heaviest(q, s, found->placement.costs()) <= q.capacity());
    CHECK(makespan(found->placement, found->latency, s.micro_batches) == found->makespan);
    Picoseconds best = Picoseconds::largest();
    const auto blocks = static_cast<std::int64_t>(q.graph().sequence().size());
    const auto try_split = [&](const std::vector<Chunk>& chunks) {
      const auto placement = placer.place(stage_layout(q.graph(), chunks, pp, {}));
      if (placement) best = std::min(best, makespan(*placement, found->latency, s.micro_batches));
    };
    for (std::int64_t a = 1; a < blocks; ++a) {
      if (pp == 2) try_split({{0, a}, {a, blocks}});
      for (std::int64_t b = a + 1; pp == 3 && b < blocks; ++b) try_split({{0, a}, {a, b}, {b, blocks}});
    }
    if (pp == 4) try_split(split_into_chunks(q.graph(), pp));
    if (pp == 4)
      CHECK(found->makespan <= best);
    else
      CHECK(found->makespan == best);
  }
}

}  // namespace
}  // namespace plumbline
