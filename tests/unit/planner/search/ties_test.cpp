// Ties of a ranking, and what following its first plan is expected to cost.

#include "planner/search/ties.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

namespace plumbline {
namespace {

double drawn_regret(const std::vector<PredictedStep>& plans, int draws) {
  std::mt19937_64 random(20261123);
  std::normal_distribution<double> z;
  double sum = 0;
  for (int n = 0; n < draws; ++n) {
    double first = 0;
    double best = 1e300;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const double truth = std::log(plans[i].step_s) + plans[i].own_sigma * z(random);
      if (i == 0) first = truth;
      best = std::min(best, truth);
    }
    sum += first - best;
  }
  return std::expm1(sum / draws);
}

TEST_CASE("the expected regret is what drawing the plans' errors gives") {
  const std::vector<std::vector<PredictedStep>> cases{
      {{10, 0.05}, {10, 0.05}},
      {{10, 0.03}, {10.1, 0.03}, {10.2, 0.06}, {11, 0.03}},
      {{60.5, 0.04}, {60.7, 0.04}, {61, 0.04}, {61.1, 0.04}, {61.2, 0.04}, {62, 0.04}, {62.3, 0.04}, {63, 0.04}},
      {{1, 0.02}, {2, 0.3}}};
  for (const std::vector<PredictedStep>& plans : cases) {
    CAPTURE(plans.size());
    CHECK(std::abs(expected_regret(plans) - drawn_regret(plans, 200'000)) < 0.0008);
  }
}

// Of two equal plans with deviation s the better one is sqrt(2) s / sqrt(2 pi) below the first in the mean.
TEST_CASE("the expected regret of two equal plans is known") {
  const double sigma = 0.05;
  const double mean = std::sqrt(2.) * sigma / std::sqrt(2 * std::acos(-1.));
  CHECK(std::abs(expected_regret({{10, sigma}, {10, sigma}}) - std::expm1(mean)) < 1e-6);
}

TEST_CASE("nothing is regretted without a choice or without errors") {
  CHECK(expected_regret({}) == 0);
  CHECK(expected_regret({{10, 0.1}}) == 0);
  CHECK(expected_regret({{10, 0}, {11, 0}}) == 0);
  CHECK(expected_regret({{10, 0.01}, {20, 0.01}}) < 1e-9);
}

Plan plan(double step_s, double sigma) {
  Plan one;
  one.machine.devices = 8;
  one.prediction.step_time_s.expected = step_s;
  one.provenance.trust.time_sigma = sigma;
  one.strategy.data_parallel = 8;
  return one;
}

// Own errors of 0.36 of 7 % each: the difference deviates by 3.6 %.
TEST_CASE("plans within one deviation of the first are tied with it, and the simplest of them is named") {
  std::vector<Plan> plans{plan(10, 0.07), plan(10.1, 0.07), plan(10.25, 0.07), plan(10.4, 0.07)};
  plans[0].strategy.tensor_parallel = 2;
  plans[0].strategy.pipeline_stages = 2;
  plans[1].strategy.pipeline_stages = 2;
  plans[1].strategy.schedule = Schedule::interleaved;
  plans[2].strategy.pipeline_stages = 2;
  plans[2].strategy.schedule = Schedule::one_f_one_b;
  const Ties ties = ties_of(plans);
  CHECK(ties.tied == 3);
  CHECK(ties.simplest == 2);
  CHECK(std::abs(ties.noise - std::sqrt(2.) * own_error_share * 0.07) < 1e-3);
  CHECK(ties.regret > 0);
}

TEST_CASE("of plans as simple as each other the one with more memory left is named") {
  std::vector<Plan> plans{plan(10, 0.04), plan(10.1, 0.04)};
  plans[0].prediction.peak_memory = 3_GiB;
  CHECK(ties_of(plans).simplest == 1);
}

TEST_CASE("full sharding is not simpler than sharing optimizer states, whatever memory it leaves") {
  std::vector<Plan> plans{plan(10, 0.04), plan(10.1, 0.04)};
  plans[0].strategy.zero_stage = 1;
  plans[0].prediction.peak_memory = 3_GiB;
  plans[1].strategy.zero_stage = 3;
  CHECK(ties_of(plans).simplest == 0);
}

TEST_CASE("the simplest may be a plan that a row stands for, where its row is tied") {
  std::vector<Plan> plans{plan(10, 0.04), plan(20, 0.04)};
  plans[0].strategy.pipeline_stages = 2;
  plans[0].strategy.schedule = Schedule::interleaved;
  RankedStrategy like;
  like.strategy.pipeline_stages = 2;
  like.strategy.schedule = Schedule::one_f_one_b;
  const Ties ties = ties_of(plans, {{like}, {RankedStrategy{}}});
  CHECK(ties.tied == 1);
  CHECK(ties.simplest == 0);
  REQUIRE(ties.simplest_like);
  CHECK(ties.simplest_like->schedule == Schedule::one_f_one_b);
}

TEST_CASE("the simplest is no plan that is folded because it is slower for nothing") {
  std::vector<Plan> plans{plan(10, 0.04), plan(20, 0.04)};
  plans[0].strategy.pipeline_stages = 2;
  plans[0].strategy.schedule = Schedule::interleaved;
  RankedStrategy slower;
  slower.strategy.pipeline_stages = 2;
  slower.strategy.schedule = Schedule::one_f_one_b;
  slower.step_time = to_picoseconds(Seconds(11));
  CHECK_FALSE(ties_of(plans, {{slower}, {}}).simplest_like);
  slower.step_time = to_picoseconds(Seconds(10.1));
  CHECK(ties_of(plans, {{slower}, {}}).simplest_like);
}

TEST_CASE("a plan that may not fit is not tied with one that surely does") {
  std::vector<Plan> plans{plan(10, 0.04), plan(9, 0.04)};
  plans[1].verdict.near_edge = true;
  CHECK(ties_of(plans).tied == 1);
  CHECK(ties_of({plan(10, 0.04)}).tied == 1);
}

}  // namespace
}  // namespace plumbline
