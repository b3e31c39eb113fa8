// Statistics against numbers worked by hand.

#include "planner/validate/summary.h"

#include <array>

#include "tests/catch.h"

namespace plumbline::summary_test {
namespace {

PredictedPair pair(double measured, double predicted, double width = 0.05) {
  return {measured, {predicted * (1 - width), predicted, predicted * (1 + width)}};
}

}  // namespace

// Errors: +10 %, -20 %, 0, +5 %. Magnitudes in order: 0, 0.05, 0.1, 0.2.
// MAPE 0.35 / 4 = 0.0875; bias -0.05 / 4 = -0.0125; median (0.05 + 0.1) / 2 = 0.075;
// p90 at place 0.9 * 3 = 2.7: 0.1 + 0.7 * 0.1 = 0.17. Inside 5 %: 1.05 * 1.05 (low 0.9975) and 1: two of four.
TEST_CASE("mean, bias, median, p90, worst and coverage") {
  const std::array pairs{pair(1, 1.1), pair(10, 8), pair(5, 5), pair(2, 2.1)};
  const SeriesSummary s = summarize(pairs);
  CHECK(s.n == 4);
  CHECK(s.mape == Approx(0.0875));
  CHECK(s.bias == Approx(-0.0125));
  CHECK(s.median == Approx(0.075));
  CHECK(s.p90 == Approx(0.17));
  CHECK(s.worst == Approx(-0.2));
  CHECK(s.coverage == Approx(0.5));
  CHECK(s.spearman == Approx(1));
}

// Ranks 1 2 3 4 5 against 2 1 4 3 5: squared differences 1 1 1 1 0; 1 - 6 * 4 / (5 * 24) = 0.8.
TEST_CASE("Spearman's coefficient is that of ranks") {
  const std::array first{1.0, 2.0, 3.0, 4.0, 5.0};
  CHECK(spearman(first, std::array{20.0, 10.0, 400.0, 300.0, 1e9}) == Approx(0.8));
  CHECK(spearman(first, std::array{5.0, 4.0, 3.0, 2.0, 1.0}) == Approx(-1));
}

// Ranks 1 2.5 2.5 4 against 1 2 3 4: means 2.5; products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5:
// 4.5 / sqrt(22.5) = 0.948683.
TEST_CASE("equal values share their mean rank") {
  CHECK(spearman(std::array{1.0, 2.0, 2.0, 3.0}, std::array{1.0, 2.0, 3.0, 4.0}) == Approx(0.948683).epsilon(1e-6));
}

TEST_CASE("nothing is said of no pair, and nothing of the order of two") {
  CHECK(summarize(std::span<const PredictedPair>()).n == 0);
  const std::array pairs{pair(1, 1), pair(2, 2)};
  CHECK(summarize(pairs).spearman == 0);
  CHECK(spearman(std::array{1.0, 1.0, 1.0}, std::array{1.0, 2.0, 3.0}) == 0);
}

TEST_CASE("quantiles interpolate between order statistics") {
  CHECK(quantile({3, 1, 2}, 0.5) == Approx(2));
  CHECK(quantile({0, 10}, 0.9) == Approx(9));
  CHECK(quantile({7}, 0.9) == Approx(7));
  CHECK(quantile({}, 0.5) == 0);
  CHECK(median(std::vector<double>{4, 1, 2, 9}) == Approx(3));
  CHECK(median(std::vector<double>{4, 1, 9}) == Approx(4));
  CHECK(median(std::vector<double>{}) == 0);
}

}  // namespace plumbline::summary_test
