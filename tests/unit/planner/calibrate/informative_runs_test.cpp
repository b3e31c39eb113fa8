#include "planner/calibrate/informative_runs.h"

#include <algorithm>
#include <limits>
#include <set>

#include "tests/catch.h"

using namespace plumbline;
using Catch::Matchers::WithinRel;

namespace {

/// Nine candidates that share four numbers in nine ways.
std::vector<LogSensitivity> candidates() {
  std::vector<LogSensitivity> all;
  for (int i = 0; i < 9; ++i)
    all.push_back({{0, 1, 2, 3}, {1.0, 0.1 * i, (i % 3) * 0.4, i == 7 ? 2.0 : 0.05 * (i % 2)}});
  return all;
}

std::vector<PriorTerm> priors() {
  return {{0, std::nullopt, 0, 0.08}, {1, std::nullopt, 0, 0.3}, {2, std::nullopt, 0, 0.2}, {3, 2, 0, 0.1}};
}

}  // namespace

// One number of sigma s, two candidates that feel it once and twice: measuring the second with noise n leaves
// s^2 - (2 s^2)^2 / (4 s^2 + n^2) of the first.
TEST_CASE("What one measurement leaves of another prediction is the normal posterior") {
  const RemainingUncertainty remaining({{0, std::nullopt, 0, 0.2}}, 1, {{{0}, {1.0}}, {{0}, {2.0}}});
  const double n2 = noise_of_few_runs * noise_of_few_runs;
  const double s2 = 0.04;
  const double first = s2 - 4 * s2 * s2 / (4 * s2 + n2);
  CHECK_THAT(remaining.after({1}), WithinRel(std::sqrt(first) + std::sqrt(4 * first), 1e-9));
  CHECK_THAT(remaining.after({}), WithinRel(0.2 + 0.4, 1e-9));
  CHECK(informative_runs(remaining, 1) == std::vector<std::size_t>{1});  // the one that feels it most
}

TEST_CASE("No other three runs tell more") {
  const RemainingUncertainty remaining(priors(), 4, candidates());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < 9; ++a)
    for (std::size_t b = a + 1; b < 9; ++b)
      for (std::size_t c = b + 1; c < 9; ++c) least = std::min(least, remaining.after({a, b, c}));
  const std::vector<std::size_t> chosen = informative_runs(remaining, 3);
  CHECK(std::set<std::size_t>(chosen.begin(), chosen.end()).size() == 3);
  // Swaps one at a time end where no single swap helps: as good as the best choice, or nearly.
  CHECK(remaining.after(chosen) <= 1.02 * least);
  CHECK(informative_runs(remaining, 9).size() == 9);
}
