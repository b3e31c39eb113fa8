#include "planner/calibrate/ranking.h"

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::ranking_test {

using Catch::Matchers::WithinAbs;

namespace {

/// Three answers to one question; who measured what is made up.
std::vector<FitRun> three_answers(double a, double b, double c) {
  std::vector<FitRun> runs;
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == "karpathy") runs = fit_runs({set}, resolver_of_catalogue()).runs;
  REQUIRE(runs.size() >= 3);
  runs.erase(runs.begin() + 3, runs.end());
  const std::array seconds{a, b, c};
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].question = "one";
    runs[i].trust = RunTrust::trusted;
    runs[i].measured_s = seconds[i];
    runs[i].repetitions_s = {seconds[i]};
  }
  return runs;
}

std::vector<TestedRun> predicted(double a, double b, double c) {
  return {{0, {a, a, a}, CalibrationRegime::calibrated},
          {1, {b, b, b}, CalibrationRegime::calibrated},
          {2, {c, c, c}, CalibrationRegime::calibrated}};
}

}  // namespace

TEST_CASE("Pairs within twice the noise do not count; regret is what the predicted best costs") {
  // 10.1 and 10 differ by 1 % < 2 * 1 %; predicted order 3 < 1 < 2, measured 2 ~ 1 < 3.
  const std::vector<RankedQuestion> ranked = rank_questions(three_answers(10.1, 10, 12), predicted(2, 3, 1));
  REQUIRE(ranked.size() == 1);
  CHECK(ranked[0].pairs == 2);
  CHECK(ranked[0].pairs_right == 0);
  CHECK_THAT(ranked[0].regret, WithinAbs(0.2, 1e-12));
  CHECK(rank_questions(three_answers(10.1, 10, 12), predicted(1, 1.1, 2))[0].pairs_right == 2);
}

TEST_CASE("A source's noise is the pooled standard deviation of its repetitions, at least the steadiest source's") {
  std::vector<FitRun> runs = three_answers(1, 1, 1);
  const std::string source = runs[0].source;
  CHECK(noise_by_source(runs).at(source).sigma == default_noise);
  // logs +-0.05 around their mean, twice: sqrt(4 * 0.05^2 / 2).
  runs[0].repetitions_s = {std::exp(0.05), std::exp(-0.05)};
  runs[1].repetitions_s = {std::exp(1.05), std::exp(0.95)};
  CHECK_THAT(noise_by_source(runs).at(source).sigma, WithinAbs(std::sqrt(0.01 / 2), 1e-12));
  CHECK(noise_by_source(runs).at(source).repetitions == 2);
}

}  // namespace plumbline::ranking_test
