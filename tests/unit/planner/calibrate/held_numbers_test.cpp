#include "planner/calibrate/held_numbers.h"

#include <random>

#include "tests/catch.h"

using namespace plumbline;

namespace {

FitOptions exact() {
  FitOptions options;
  options.most_iterations = 100;
  options.tolerance = 1e-13;
  options.loss_scale = 10;  // so wide that the loss is quadratic
  options.threads = 1;
  return options;
}

std::vector<bool> held_of(FitProblem problem) {
  hold_what_fits_as_well(problem.priors, fit(problem, exact()));
  std::vector<bool> held;
  for (const PriorTerm& prior : problem.priors) held.push_back(prior.is_held);
  return held;
}

}  // namespace

TEST_CASE("Of independent numbers those are held whose refit costs less than the limit") {
  std::mt19937_64 bits(20261126);
  std::uniform_real_distribution<double> uniform(-1, 1);
  FitProblem problem;
  for (std::uint32_t u = 0; u < 40; ++u) {
    problem.unknowns.push_back({0.0});
    problem.priors.push_back({u, std::nullopt, 0, 0.3});
    problem.observations.push_back({uniform(bits), 100 * std::pow(10.0, 2 * uniform(bits)), {u}});
  }
  problem.predict = [](std::size_t i, std::span<const double> x) { return x[i]; };
  const FitResult free = fit(problem, exact());
  std::vector<bool> expected;
  for (std::size_t u = 0; u < problem.unknowns.size(); ++u) {
    FitProblem held = problem;
    held.priors[u].is_held = true;
    const double cost = fit(held, exact()).objective - free.objective;
    expected.push_back(cost < most_cost_of_holding && free.sigma(u) / 0.3 >= identified_below);
  }
  CHECK(held_of(problem) == expected);
  const auto count = std::count(expected.begin(), expected.end(), true);
  CHECK(count > 5);
  CHECK(count < 35);
}

TEST_CASE("Of two numbers that runs tell only together one stays free") {
  // The runs tell their sum, 0.1, and each is expected at 0 +- 1: without either the objective rises by 0.1^2 / 2.
  FitProblem problem;
  problem.unknowns = {{0.0}, {0.0}};
  problem.priors = {{0, std::nullopt, 0, 1}, {1, std::nullopt, 0, 1}};
  problem.observations = {{0.1, 1e6, {0, 1}}};
  problem.predict = [](std::size_t, std::span<const double> x) { return x[0] + x[1]; };
  const std::vector<bool> held = held_of(problem);
  CHECK(held[0] != held[1]);
  problem.observations.front().log_measured = 1;  // rises by 1 / 2
  CHECK(held_of(problem) == std::vector{false, false});
}

TEST_CASE("A number is held as far from its centre as it was expected, wherever the centre goes") {
  FitProblem problem;
  problem.unknowns = {{0.0}, {0.0}};
  problem.priors = {{0, std::nullopt, 0, 1}, {1, 0, 0.1, 0.08}};
  problem.observations = {{0.9, 1e6, {0}}, {1.0, 10, {1}}};
  problem.predict = [](std::size_t i, std::span<const double> x) { return x[i]; };
  CHECK(held_of(problem) == std::vector{false, true});
}
