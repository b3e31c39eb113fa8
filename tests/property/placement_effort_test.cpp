// Placements of layers with very many options, which are chosen in a limited number of steps, against ten times as
// many: Llama, GPT, T5 and mixtures without FlashAttention, on ranks of every schedule.

#include "core/plan/pipeline_schedule.h"
#include "planner/checkpointing/placement.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

/// A legal question of placed recompute without FlashAttention.
RandomQuestion next_of(RandomQuestions& random) {
  for (;;) {
    RandomQuestion asked = random.next();
    asked.strategy.flash_attention = FlashAttention::off;
    asked.strategy.recompute = {RecomputeMode::placed, 1};
    const Question& q = asked.question;
    if (!first_violation(asked.strategy, q.training(), q.facts(), q.limits())) return asked;
  }
}

/// What layers keep that replay nothing.
Bytes most_kept(const RankLayers& layers) {
  Bytes kept(0);
  for (const LayerGroup& group : layers.groups()) {
    Bytes most(0);
    for (const LayerOption& option : group.options) most = std::max(most, option.saved);
    kept += group.count * most;
  }
  return kept;
}

TEST_CASE("placements in a limited number of steps take a rank at most 1 % longer than in ten times as many") {
  constexpr int questions = 24;
  constexpr EffortLimit ten_times{10 * EffortLimit{}.steps, 10 * EffortLimit{}.labels};
  RandomQuestions random(29);
  double worst = 0;
  double worst_replay = 0;
  int compared = 0;
  for (int i = 0; i < questions; ++i) {
    const auto [question, strategy] = next_of(random);
    CAPTURE(question.text().model, to_text(strategy));
    const std::vector<BlockCost> blocks = block_costs(question, strategy);
    const RankLayersTable table(blocks);
    Strategy unplaced = strategy;
    unplaced.recompute = {};
    const StageLayout layout = layout_of(question, unplaced, table);
    const RecomputePlacer placer(question, strategy, table);
    const StageTable kept(question.graph(), layout, blocks);
    const Picoseconds pass = kept[0].forward_total() + kept[0].backward_total();
    const RankLayers& layers = table.of(placer.chunks_of(layout, 0), strategy.virtual_stages);
    const std::int64_t in_flight = chunks_in_flight(strategy, 0);
    const LayerChoice& smallest = layers.smallest(in_flight);
    const Bytes least = in_flight * smallest.saved + smallest.restored;
    const Bytes most = std::max(least, in_flight * most_kept(layers));
    for (const std::int64_t share : {1, 2, 3}) {
      const Bytes budget = least + share * (most - least) / std::int64_t{4};
      const auto limited = layers.chooser().choose(in_flight, budget, Picoseconds(0));
      const auto longer = layers.chooser().choose(in_flight, budget, Picoseconds(0), ten_times);
      REQUIRE(limited.has_value() == longer.has_value());
      if (!limited || longer->time == Picoseconds(0)) continue;
      const Picoseconds excess = limited->time - longer->time;
      CHECK(excess / (pass + longer->time) < 0.01);
      worst = std::max(worst, excess / (pass + longer->time));
      worst_replay = std::max(worst_replay, excess / longer->time);
      ++compared;
    }
  }
  WARN(compared << " placements, longer by at most " << 100 * worst << " % of a micro-batch, " << 100 * worst_replay
                << " % of its replay");
  CHECK(compared > questions);
}

}  // namespace
}  // namespace plumbline
