// Recompute placed on the ranks of real questions: fits, is never slower than a uniform mode, and with the split of the
// layers never slower than any other split.

#include "planner/checkpointing/split_placer.h"

#include <set>

#include "core/cost/pipeline_time.h"
#include "core/cost/stage_memory.h"
#include "core/io/plan_json.h"
#include "planner/partition/balanced_split.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

Question on_h100(const std::string& model, std::int64_t devices, std::int64_t batch) {
  return question_of(model, "dgx-h100", devices, 4096, batch);
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

Strategy placed_of(Strategy s) {
  s.recompute = {RecomputeMode::placed, 1};
  return s;
}

/// A layout of some strategy with its costs.
struct Laid {
  Laid(const Question& q, const Strategy& s) : blocks(block_costs(q, s)), layout(layout_of(q, s, blocks)) { price(q); }
  Laid(const Question& q, const Strategy& s, const std::vector<Chunk>& chunks) : blocks(block_costs(q, placed_of(s))) {
    const RecomputePlacer placer(q, s, blocks);
    Placement placement = SplitPlacer(placer, chunks).place();
    fits = placement.fits;
    layout = stage_layout(q.graph(), {chunks, std::move(placement.variants)}, s.pipeline_stages);
    price(q);
  }
  void price(const Question& q) {
    const StageTable table(q.graph(), layout, blocks);
    for (std::size_t rank = 0; rank < table.size(); ++rank) costs.push_back(table[rank]);
  }
  std::vector<BlockCost> blocks;
  StageLayout layout;
  std::vector<StageCost> costs;
  bool fits = true;
};
Picoseconds step_of(const Question& q, const Strategy& s, const Laid& laid) {
  return q.step_pricer().price(StageTable(q.graph(), laid.layout, laid.blocks), s).total();
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
  all.push_back({on_h100("llama-2-7b", 8, 64), strategy_of(1, 4, 2, 32, 1)});
  all.push_back({on_h100("llama-2-13b", 8, 64), strategy_of(2, 4, 1, 64, 0)});
  Strategy tight = strategy_of(2, 4, 1, 16, 0);
  tight.micro_batch = 4;
  all.push_back({on_h100("llama-2-13b", 8, 64), tight});
  all.push_back({on_h100("llama-3-8b", 8, 32), strategy_of(4, 2, 1, 32, 0)});
  Strategy interleaved = strategy_of(2, 4, 1, 64, 0);
  interleaved.schedule = Schedule::interleaved;
  interleaved.virtual_stages = 2;
  all.push_back({on_h100("llama-2-13b", 8, 64), interleaved});
  return all;
}

TEST_CASE("placed recompute fits and is no slower than any uniform mode that fits") {
  int between = 0;  // none exceeds the memory, full wastes it, placed beats every mode that fits
  for (const Case& c : cases()) {
    const Question& q = c.question;
    const Laid best(q, placed_of(c.strategy));
    INFO(q.text().model << ' ' << to_text(c.strategy));
    CHECK(heaviest(q, c.strategy, best.costs) <= q.certain_capacity());
    bool exceeds = false;
    bool beats = true;
    const Picoseconds placed = step_of(q, c.strategy, best);
    for (const Recompute recompute : {Recompute{}, Recompute{RecomputeMode::selective, 1},
                                      Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::every_nth, 2}}) {
      Strategy s = c.strategy;
      s.recompute = recompute;
      const Laid uniform(q, s);
      const bool fits = heaviest(q, s, uniform.costs) <= q.certain_capacity();
      const Picoseconds time = step_of(q, s, uniform);
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

TEST_CASE("where none exceeds the memory and full wastes it, the plan with optimal recompute is faster than both") {
  const Case c = std::move(cases()[2]);
  const auto plan_of = [&](RecomputeMode mode) {
    Strategy s = c.strategy;
    s.recompute = {mode, 1};
    return evaluate(c.question, s);
  };
  const Plan none = plan_of(RecomputeMode::none);
  const Plan full = plan_of(RecomputeMode::full);
  const Plan optimal = plan_of(RecomputeMode::placed);
  REQUIRE(!none.verdict.fits);
  REQUIRE(full.verdict.fits);
  CHECK(optimal.verdict.fits);
  CHECK(optimal.prediction.time.total() < full.prediction.time.total());
  CHECK(optimal.prediction.peak_memory > full.prediction.peak_memory);
  // Later stages have fewer micro-batches in flight and replay less.
  CHECK(optimal.layout.stages.front().recomputed_layers > optimal.layout.stages.back().recomputed_layers);
}

TEST_CASE("a plan file with optimal recompute or layers by hand reads back to the same prediction, byte for byte") {
  const Case c = std::move(cases()[2]);
  Strategy balanced = placed_of(c.strategy);
  balanced.split = StageSplit::balanced;
  Strategy by_hand = placed_of(c.strategy);
  by_hand.layers_per_stage = {9, 11, 11, 9};
  for (const Strategy& s : {placed_of(c.strategy), balanced, by_hand}) {
    INFO(to_text(s));
    const std::string text = to_json_text(to_json(evaluate(c.question, s)));
    const Json json = parse_json(text, "plan.json");
    const Plan read = plan_from_json(JsonPlace(json, "plan.json:"));
    CHECK(read.strategy == s);
    QuestionText again = c.question.text();
    again.training = read.training;
    CHECK(to_json_text(to_json(evaluate(Question(again), read.strategy))) == text);
  }
}

TEST_CASE("layers by hand are where the plan says, and what the layers replay covers each once") {
  const Case c = std::move(cases()[2]);
  Strategy s = placed_of(c.strategy);
  s.layers_per_stage = {9, 11, 12, 8};
  const Plan plan = evaluate(c.question, s);
  std::int64_t next = 0;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const StageLayoutEntry& entry = plan.layout.stages[stage];
    REQUIRE(entry.layers.size() == 1);
    CHECK(entry.layers[0][1] - entry.layers[0][0] + 1 == s.layers_per_stage[stage]);
    for (const RecomputeRun& run : entry.recompute) {
      CHECK(run.first_layer == next);
      next = run.last_layer + 1;
      CHECK((run.replayed.empty() == (run.replay == Picoseconds(0))));
    }
  }
  CHECK(next == 40);
}

// What Muon gathers once a step is gigabytes here: a load below it costs no memory.
TEST_CASE("a budget is the largest load that fits, also alongside what an optimizer gathers once a step") {
  const Optimizer optimizer = GENERATE(Optimizer::adamw, Optimizer::muon);
  const std::int32_t zero = GENERATE(0, 1);
  QuestionText text = question_text("llama-3-8b", "dgx-h100", 24, 4096, 360);
  text.training.optimizer = optimizer;
  const Question q(text);
  const Strategy s = strategy_of(1, 4, 6, 60, zero);
  const std::vector<BlockCost> blocks = block_costs(q, placed_of(s));
  const RecomputePlacer placer(q, s, blocks);
  const StageLayout layout = layout_of(q, s);
  const StageTable table(q.graph(), layout, blocks);
  StageCost loaded = table[0];
  loaded.memory.saved = Bytes(0);
  const auto held = [&](Bytes load) {
    loaded.memory.working.backward = load;
    return heaviest(q, s, {loaded});
  };
  const Bytes free = held(Bytes(0));
  for (const Bytes capacity : {free, free + Bytes(1), free + Bytes(123'456'789), q.certain_capacity(), q.capacity()}) {
    CAPTURE(capacity.value(), free.value());
    if (capacity < free) continue;
    const Bytes budget = placer.budget(table[0], 0, capacity);
    CHECK(held(budget) <= capacity);
    CHECK(held(budget + Bytes(1)) > capacity);
  }
  CHECK(placer.budget(table[0], 0, free - Bytes(1)) < Bytes(0));
}

/// The makespan that the split's search minimises.
Picoseconds makespan(const std::vector<StageCost>& stages, const std::vector<Picoseconds>& latency, std::int64_t m) {
  std::vector<Picoseconds> forward, backward;
  for (const StageCost& stage : stages) {
    forward.push_back(stage.forward_total());
    backward.push_back(stage.backward_total());
  }
  return one_f_one_b_makespan({forward, backward, latency}, m);
}

TEST_CASE("no split with recompute placed is faster than the one that is found") {
  for (const std::int32_t pp : {2, 3, 4}) {
    const Question q = on_h100("llama-2-13b", std::int64_t{2} * pp, std::int64_t{16} * pp);
    Strategy s = strategy_of(2, pp, 1, std::int64_t{4} * pp, 0);
    s.micro_batch = 4;
    const std::vector<BlockCost> priced = block_costs(q, placed_of(s));
    const auto found = balanced_split(q, placed_of(s), priced);
    INFO("pp " << pp);
    REQUIRE(found);
    CHECK(found->proven);
    const Laid laid(q, s, found->chunks);
    CHECK(laid.fits);
    CHECK(heaviest(q, s, laid.costs) <= q.certain_capacity());
    CHECK(makespan(laid.costs, found->latency, s.micro_batches) == found->makespan);
    Picoseconds best = Picoseconds::largest();
    const auto blocks = static_cast<std::int64_t>(q.graph().sequence().size());
    const auto try_split = [&](const std::vector<Chunk>& chunks) {
      const Laid tried(q, s, chunks);
      if (tried.fits) best = std::min(best, makespan(tried.costs, found->latency, s.micro_batches));
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

TEST_CASE("no split that fits is faster than the balanced one of a uniform recompute mode") {
  constexpr std::int32_t pp = 3;
  const Question q = on_h100("llama-2-13b", std::int64_t{2} * pp, std::int64_t{16} * pp);
  for (const Recompute recompute :
       {Recompute{}, Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::every_nth, 3}}) {
    Strategy s = strategy_of(2, pp, 1, std::int64_t{4} * pp, 0);
    s.micro_batch = 4;
    s.recompute = recompute;
    INFO(to_text(recompute));
    const auto found = balanced_split(q, s, block_costs(q, s));
    REQUIRE(found);
    Picoseconds best = Picoseconds::largest();
    const std::vector<BlockCost> blocks = block_costs(q, s);
    const auto count = static_cast<std::int64_t>(q.graph().sequence().size());
    for (std::int64_t a = 1; a < count; ++a)
      for (std::int64_t b = a + 1; b < count; ++b) {
        const StageLayout layout = stage_layout(q.graph(), {{0, a}, {a, b}, {b, count}}, pp, recompute);
        const StageTable table(q.graph(), layout, blocks);
        const std::vector<StageCost> stages{table[0], table[1], table[2]};
        if (heaviest(q, s, stages) <= q.capacity())
          best = std::min(best, makespan(stages, found->latency, s.micro_batches));
      }
    CHECK(found->makespan == best);
  }
}

TEST_CASE("where nothing fits, the placement holds least") {
  const Case c{on_h100("llama-2-70b", 8, 64), strategy_of(2, 4, 1, 64, 0)};
  const Laid placed(c.question, placed_of(c.strategy));
  REQUIRE(heaviest(c.question, c.strategy, placed.costs) > c.question.certain_capacity());
  Strategy full = c.strategy;
  full.recompute = {RecomputeMode::full, 1};
  CHECK(heaviest(c.question, c.strategy, placed.costs) <= heaviest(c.question, full, Laid(c.question, full).costs));
}

TEST_CASE("in a chunk the layers that replay most come first") {
  const Case c = std::move(cases()[2]);
  const Laid placed(c.question, placed_of(c.strategy));
  const std::vector<BlockId> sequence = c.question.graph().sequence();
  std::size_t different = 0;
  for (const Chunk& chunk : placed.layout.arrangement.chunks) {
    std::optional<Picoseconds> before;
    for (auto i = static_cast<std::size_t>(chunk.first); i < static_cast<std::size_t>(chunk.last); ++i) {
      if (c.question.graph().block(sequence[i]).kind() != BlockKind::layer) continue;
      const Picoseconds time = placed.blocks[static_cast<std::size_t>(sequence[i].index())]
                                   .times(placed.layout.arrangement.variants[i])
                                   .recompute.total();
      if (before) CHECK(time <= *before);
      if (before && time < *before) ++different;
      before = time;
    }
  }
  CHECK(different > 0);
}

// Of 4096 tokens and 4096 features in 16 bits, each of eight ranks sends seven eighths per gather or scatter.
TEST_CASE("what a placed choice sends is whole collectives of the operators that run again") {
  constexpr std::int64_t collective = std::int64_t{4096} * 4096 * 2 * 7 / 8;
  const Question q = on_h100("llama-2-7b", 8, 32);
  const std::vector<BlockCost> blocks = block_costs(q, placed_of(strategy_of(8, 1, 1, 32, 0)));
  std::set<std::int64_t> sent;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (q.graph().blocks()[b].kind() != BlockKind::layer) continue;
    CHECK(blocks[b].wire_forward.tensor == Bytes(4 * collective));
    for (std::size_t v = Variant::first_placed; v < blocks[b].variants.size(); ++v) {
      const Bytes tensor = blocks[b].variants[v].wire.tensor;
      REQUIRE(tensor.value() % collective == 0);
      sent.insert(tensor.value() / collective);
    }
  }
  CHECK(sent.size() > 1);
  CHECK(*sent.begin() == 0);
  CHECK(*sent.rbegin() <= 4);
}

}  // namespace
}  // namespace plumbline
