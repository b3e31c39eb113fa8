// `--recompute optimal` against every mode that can be named, over random questions of every schedule.

#include "planner/checkpointing/named_modes.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

struct Outcome {
  bool fits = false;
  bool is_certain = false;  ///< by more than the estimate of memory is uncertain
  Bytes peak{0};
  Picoseconds step{0};
};

Outcome outcome_of(const Question& q, Strategy s, Recompute recompute, const std::vector<BlockCost>& blocks) {
  s.recompute = recompute;
  const StageLayout layout = layout_of(q, s, blocks);
  const StageTable stages(q.graph(), layout, blocks);
  Outcome outcome;
  outcome.peak = peak_memory(q, stages, s);
  outcome.fits = outcome.peak <= q.capacity() && fits_host(q, stages, s);
  outcome.is_certain = outcome.fits && outcome.peak <= q.certain_capacity();
  outcome.step = q.step_pricer().price(stages, s).total();
  return outcome;
}

void hold_optimal_against_named_modes(std::uint64_t seed, int questions) {
  RandomQuestions random(seed);
  int tight = 0;   // nothing replayed does not fit, optimal does
  int faster = 0;  // than every mode that fits
  for (int n = 0; n < questions; ++n) {
    const auto [question, strategy] = random.next();
    Strategy placed = strategy;
    placed.recompute = {RecomputeMode::placed, 1};
    const std::vector<BlockCost> blocks = block_costs(question, placed);
    const Outcome optimal = outcome_of(question, strategy, placed.recompute, blocks);
    INFO(question.text().model << " on " << question.text().machine << ", sequence "
                               << question.training().sequence_length << ": " << to_text(placed));
    bool beats_all = optimal.fits;
    for (const Recompute mode : named_modes(question.graph().layer_count())) {
      // Under torch.autocast it casts weights again, which no placement is held to do.
      if (recast_share(mode, question.calibration().stack.features, question.training().formats()) > 0) continue;
      const Outcome named = outcome_of(question, strategy, mode, blocks);
      INFO(to_text(mode));
      if (named.fits) REQUIRE(optimal.fits);
      if (named.is_certain) REQUIRE(optimal.is_certain);
      const bool is_as_sure = named.fits && named.is_certain == optimal.is_certain;
      if (is_as_sure) REQUIRE(optimal.step <= named.step);
      if (is_as_sure && named.step <= optimal.step) beats_all = false;
      if (!named.fits && mode.mode == RecomputeMode::none && optimal.fits) ++tight;
    }
    if (beats_all) ++faster;
  }
  CHECK(tight > questions / 20);
  CHECK(faster > questions / 40);
}

TEST_CASE("optimal recompute fits as surely as every named mode, and is never slower than one that does") {
  hold_optimal_against_named_modes(20261123, 200);
}
TEST_CASE("optimal recompute is no worse than any named mode over two thousand questions", "[long]") {
  hold_optimal_against_named_modes(7, 2000);
}

}  // namespace
}  // namespace plumbline
