#include "planner/calibrate/robust_fit.h"

#include <cmath>

#include "tests/catch.h"

namespace plumbline::robust_fit_test {

using Catch::Matchers::WithinAbs;

namespace {

/// A straight line in logarithms: prediction i is a + b * at[i].
struct Line {
  std::vector<double> at;
  std::vector<double> measured;
  [[nodiscard]] FitProblem problem(double prior_sigma) const {
    FitProblem problem;
    problem.unknowns = {{0.0}, {0.0}};
    problem.priors = {{0, std::nullopt, 0, prior_sigma}, {1, std::nullopt, 0, prior_sigma}};
    for (const double value : measured) problem.observations.push_back({value, 1, {0, 1}});
    problem.predict = [at = at](std::size_t i, std::span<const double> x) { return x[0] + x[1] * at[i]; };
    return problem;
  }
};

/// Soft-L1 loss of the residuals in units of `scale`, and the squared distances from the priors, both written out.
double objective_at(const Line& line, double a, double b, double prior_sigma, double scale) {
  double sum = (a * a + b * b) / (prior_sigma * prior_sigma);
  for (std::size_t i = 0; i < line.at.size(); ++i) {
    const double z = (a + b * line.at[i] - line.measured[i]) / scale;
    sum += 2 * (std::sqrt(1 + z * z) - 1);
  }
  return sum;
}

FitOptions exact() {
  FitOptions options;
  options.most_iterations = 100;
  options.tolerance = 1e-13;
  options.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("A line is found as a dense grid finds it, outlier and priors included") {
  const Line line{{0, 1, 2, 3, 4}, {0.1, 0.32, 0.48, 0.71, 2.0}};
  const FitProblem problem = line.problem(0.5);
  const FitOptions options = exact();
  const FitResult result = fit(problem, options);
  double best = HUGE_VAL;
  std::vector<double> found{0, 0};
  for (int a = -500; a <= 500; ++a)
    for (int b = -500; b <= 500; ++b) {
      const std::vector<double> x{a * 0.001, b * 0.001};
      const double objective = objective_at(line, x[0], x[1], 0.5, options.loss_scale);
      if (objective < best) best = objective, found = x;
    }
  CHECK_THAT(result.unknowns[0], WithinAbs(found[0], 0.002));
  CHECK_THAT(result.unknowns[1], WithinAbs(found[1], 0.002));
  CHECK(result.objective <= best);
  CHECK_THAT(result.objective,
             WithinAbs(objective_at(line, result.unknowns[0], result.unknowns[1], 0.5, options.loss_scale), 1e-9));
  CHECK(result.complete);
}

TEST_CASE("Small residuals weigh as in plain least squares: mean of normal prior and data by their precisions") {
  // One unknown, prior 0 +- 0.3, three measurements of 0.01 with sigma 1 (so wide that soft-L1 is quadratic):
  // posterior mean = 3 * 0.01 / (3 + 1/0.09), variance = 1 / (3 + 1/0.09).
  FitProblem problem;
  problem.unknowns = {{0.0}};
  problem.priors = {{0, std::nullopt, 0, 0.3}};
  problem.observations.assign(3, {0.01, 1, {0}});
  problem.predict = [](std::size_t, std::span<const double> x) { return x[0]; };
  FitOptions options = exact();
  options.loss_scale = 1;
  const FitResult result = fit(problem, options);
  const double precision = 3 + 1 / 0.09;
  CHECK_THAT(result.unknowns[0], WithinAbs(0.03 / precision, 1e-6));
  CHECK_THAT(result.sigma(0), WithinAbs(std::sqrt(1 / precision), 1e-4));
}

TEST_CASE("A number that no observation depends on stays at its prior with the prior's sigma") {
  FitProblem problem;
  problem.unknowns = {{0.0}, {0.7}};
  problem.priors = {{0, std::nullopt, 0, 1}, {1, std::nullopt, 0.7, 0.25}};
  problem.observations = {{0.4, 1, {0}}, {0.5, 1, {0}}};
  problem.predict = [](std::size_t, std::span<const double> x) { return x[0]; };
  const FitResult result = fit(problem, exact());
  CHECK_THAT(result.unknowns[1], WithinAbs(0.7, 1e-12));
  CHECK_THAT(result.sigma(1), WithinAbs(0.25, 1e-9));
}

TEST_CASE("A number around another follows it where its own runs are silent") {
  // x1 ~ x0 +- 0.1 and only x0 is measured, at 1.
  FitProblem problem;
  problem.unknowns = {{0.0}, {0.0}};
  problem.priors = {{0, std::nullopt, 0, 10}, {1, 0, 0, 0.1}};
  problem.observations.assign(20, {1.0, 1, {0}});
  problem.predict = [](std::size_t, std::span<const double> x) { return x[0]; };
  const FitResult result = fit(problem, exact());
  CHECK_THAT(result.unknowns[0], WithinAbs(1.0, 1e-3));
  CHECK_THAT(result.unknowns[1], WithinAbs(result.unknowns[0], 1e-6));
  CHECK(result.sigma(1) > result.sigma(0));
}

TEST_CASE("Bounds hold") {
  FitProblem problem;
  problem.unknowns = {{0.0, -0.2, 0.3}};
  problem.priors = {{0, std::nullopt, 0, 1}};
  problem.observations.assign(5, {2.0, 1, {0}});
  problem.predict = [](std::size_t, std::span<const double> x) { return x[0]; };
  CHECK(fit(problem, exact()).unknowns[0] <= 0.3);
}

TEST_CASE("Errors of a left-out group in closed form are those of a fit without it") {
  const Line line{{0, 1, 2, 3, 4, 5}, {0.01, 0.11, 0.18, 0.33, 0.38, 0.52}};
  const FitProblem all = line.problem(2);
  FitOptions options = exact();
  options.loss_scale = 10;  // quadratic, where the closed form is exact
  const std::vector<std::size_t> groups{0, 0, 1, 1, 2, 2};
  const std::vector<LeftOutError> closed = left_out_errors(all, fit(all, options), groups, options.loss_scale);
  for (std::size_t group = 0; group < 3; ++group) {
    FitProblem without = all;
    for (std::size_t i = 0; i < 6; ++i)
      if (groups[i] == group) without.observations[i].weight = 0;
    const FitResult refitted = fit(without, options);
    for (std::size_t i = 0; i < 6; ++i)
      if (groups[i] == group) {
        CHECK_THAT(closed[i].error, WithinAbs(all.predict(i, refitted.unknowns) - line.measured[i], 1e-4));
        const std::vector<double> slope{1, line.at[i]};
        const std::vector<std::uint32_t> unknowns{0, 1};
        CHECK_THAT(closed[i].variance, WithinAbs(refitted.variance(unknowns, slope), 1e-2));
      }
  }
}

TEST_CASE("The whole fit without a group in closed form is that fit") {
  const Line line{{0, 1, 2, 3, 4, 5}, {0.01, 0.11, 0.18, 0.33, 0.38, 0.52}};
  const FitProblem all = line.problem(2);
  FitOptions options = exact();
  options.loss_scale = 10;  // quadratic, where the closed form is exact
  FitProblem without = all;
  without.observations[1].weight = without.observations[4].weight = 0;
  const FitResult refitted = fit(without, options);
  const FitResult closed = without_group(all, fit(all, options), std::vector<std::size_t>{1, 4}, options.loss_scale);
  for (std::size_t u = 0; u < 2; ++u) {
    CHECK_THAT(closed.unknowns[u], WithinAbs(refitted.unknowns[u], 1e-4));
    CHECK_THAT(closed.sigma(u), WithinAbs(refitted.sigma(u), 1e-3));
  }
  for (std::size_t i = 0; i < 6; ++i) CHECK_THAT(closed.log_predicted[i], WithinAbs(refitted.log_predicted[i], 1e-4));
}

TEST_CASE("A number that is held moves with its centre alone, as if it were not there") {
  // x1 stays 0.3 above x0, x2 at 0.2; what is left is a line through x0.
  FitProblem held;
  held.unknowns = {{0.0}, {0.0}, {0.9}};
  held.priors = {{0, std::nullopt, 0, 0.5}, {1, 0, 0.3, 0.1, true}, {2, std::nullopt, 0.2, 0.4, true}};
  const std::vector<double> measured{0.9, 1.1, 0.2, 1.4};
  const std::vector<double> slopes{0.5, 1, 2, 3};
  for (const double value : measured) held.observations.push_back({value, 1, {0, 1, 2}});
  held.predict = [&](std::size_t i, std::span<const double> x) { return x[0] + slopes[i] * x[1] + 0.5 * x[2]; };
  FitProblem alone;
  alone.unknowns = {{0.0}};
  alone.priors = {{0, std::nullopt, 0, 0.5}};
  for (const double value : measured) alone.observations.push_back({value, 1, {0}});
  alone.predict = [&](std::size_t i, std::span<const double> x) { return x[0] + slopes[i] * (x[0] + 0.3) + 0.1; };

  FitOptions options = exact();
  options.loss_scale = 10;  // quadratic, where the closed forms are exact
  const FitResult result = fit(held, options);
  const FitResult expected = fit(alone, options);
  CHECK_THAT(result.unknowns[0], WithinAbs(expected.unknowns[0], 1e-6));
  CHECK_THAT(result.unknowns[1], WithinAbs(expected.unknowns[0] + 0.3, 1e-6));
  CHECK_THAT(result.unknowns[2], WithinAbs(0.2, 1e-12));
  CHECK_THAT(result.share_left_open(held.priors[2]), WithinAbs(1, 0.01));  // it is held, but not known

  const std::vector<std::size_t> groups{0, 1, 1, 2};
  const std::vector<LeftOutError> errors = left_out_errors(held, result, groups, options.loss_scale);
  const std::vector<LeftOutError> expected_errors = left_out_errors(alone, expected, groups, options.loss_scale);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CHECK_THAT(errors[i].error, WithinAbs(expected_errors[i].error, 1e-6));
    CHECK(errors[i].variance > expected_errors[i].variance);
  }
  const std::vector<std::size_t> second{1};
  const FitResult without = without_group(held, result, second, options.loss_scale);
  const FitResult expected_without = without_group(alone, expected, second, options.loss_scale);
  CHECK_THAT(without.unknowns[1], WithinAbs(expected_without.unknowns[0] + 0.3, 1e-6));
  CHECK_THAT(without.unknowns[2], WithinAbs(0.2, 1e-12));
}

}  // namespace plumbline::robust_fit_test
