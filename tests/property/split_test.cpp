// `--split balanced` against the even split, over random questions.

#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline::split_test {
namespace {

struct Outcome {
  bool fits = false;
  Picoseconds step{0};
};

Outcome outcome_of(const Question& question, const Strategy& s) {
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const StageLayout layout = layout_of(question, s, blocks);
  const StageTable stages(question.graph(), layout, blocks);
  const bool fits = peak_memory(question, stages, s) <= question.capacity() && fits_host(question, stages, s);
  return {fits, question.step_pricer().price(stages, s).total()};
}

void hold_balanced_against_even(std::uint64_t seed, int questions) {
  RandomQuestions random(seed);
  constexpr std::array modes{Recompute{}, Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::every_nth, 3},
                             Recompute{RecomputeMode::placed, 1}};
  int faster = 0;
  int fits_alone = 0;
  for (int n = 0; n < questions;) {
    auto [question, even] = random.next();
    if (even.schedule != Schedule::one_f_one_b) continue;
    ++n;
    even.recompute = random.one_of(modes);
    Strategy balanced = even;
    balanced.split = StageSplit::balanced;
    INFO(question.text().model << " on " << question.text().machine << ", sequence "
                               << question.training().sequence_length << ": " << to_text(balanced));
    const Outcome of_even = outcome_of(question, even);
    const Outcome of_balanced = outcome_of(question, balanced);
    if (of_even.fits) REQUIRE(of_balanced.fits);
    if (of_even.fits) REQUIRE(of_balanced.step <= of_even.step);
    if (of_even.fits && of_balanced.step < of_even.step) ++faster;
    if (!of_even.fits && of_balanced.fits) ++fits_alone;
  }
  CHECK(faster > questions / 8);
  CHECK(fits_alone > 0);
}

TEST_CASE("a balanced split fits where the even one does, and is never slower") {
  hold_balanced_against_even(20261123, 80);
}
TEST_CASE("a balanced split is never worse than the even one over a thousand questions", "[long]") {
  hold_balanced_against_even(5, 1000);
}

}  // namespace
}  // namespace plumbline::split_test
