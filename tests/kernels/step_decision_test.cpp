#include "kernels/step_decision.h"

#include <limits>

#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

StepTotals of_rank(double squares, double loss = 1) {
  StepTotals totals;
  totals.loss = {loss, 1};
  totals.gradients.sum_of_squares = squares;
  return totals;
}

constexpr LossScaleRule rule{8, 1, 1024, 2};

StepDecision decided(const std::vector<StepTotals>& ranks, StepState& state, double clip = 0) {
  StepDecision decision;
  reference::decide_step({ranks.data(), std::ssize(ranks), clip, rule, &state, &decision});
  return decision;
}

StepDecision decided(const std::vector<StepTotals>& ranks, double scale, double clip) {
  StepState state{{scale, 0, 0}, 0};
  return decided(ranks, state, clip);
}

// Squares 9 + 16 of gradients that are multiplied by 4: their norm is 5 / 4.
TEST_CASE("gradients are clipped by the norm of all ranks, without the loss scale") {
  const std::vector<StepTotals> ranks = {of_rank(9), of_rank(16)};
  CHECK(decided(ranks, 4, 0).factor == 1.0F / 4);
  CHECK(decided(ranks, 4, 2).factor == 1.0F / 4);
  CHECK(decided(ranks, 4, 1).factor == 0.8F / 4);
  CHECK(decided(ranks, 4, 1).is_taken == 1);
  CHECK(decided({of_rank(0)}, 1, 1).factor == 1.0F);
}

TEST_CASE("a step is not taken where a loss or a gradient of any rank is not finite, or their sum") {
  StepTotals overflown = of_rank(1);
  overflown.gradients.has_non_finite = 1;
  CHECK(decided({of_rank(1), overflown, of_rank(1)}, 1, 1).is_taken == 0);
  CHECK(decided({of_rank(1), of_rank(1, infinite)}, 1, 1).is_taken == 0);
  CHECK(decided({of_rank(std::numeric_limits<double>::quiet_NaN())}, 1, 0).is_taken == 0);
  const double largest = std::numeric_limits<double>::max();
  CHECK(decided({of_rank(largest), of_rank(largest)}, 1, 0).is_taken == 0);
  CHECK(decided({of_rank(largest)}, 1, 0).is_taken == 1);
}

// Taken, left out: 8 is halved; two taken: 4 is doubled.
TEST_CASE("a decision counts the updates that are taken, and leaves the next step its loss scale") {
  const std::vector<StepTotals> good = {of_rank(1)};
  const std::vector<StepTotals> bad = {of_rank(infinite)};
  StepState state{{8, 0, 0}, 0};
  CHECK(decided(good, state).update == 1);
  CHECK(state == StepState{{8, 1, 0}, 1});
  const StepDecision left_out = decided(bad, state);
  CHECK((left_out.update == 2 && left_out.is_taken == 0));
  CHECK(state == StepState{{4, 0, 1}, 1});
  CHECK(decided(good, state).factor == 1.0F / 4);
  CHECK(decided(good, state).update == 3);
  CHECK(state == StepState{{8, 0, 1}, 3});
}

}  // namespace
}  // namespace plumbline
