#pragma once
/// \file robust_fit.h: unknown positive numbers from what they predict, with priors that hold where rows are silent.
///
/// Everything is a natural logarithm: an unknown x stands for exp(x), an observation compares log(predicted) with
/// log(measured). Minimised is the sum of weight * soft-L1((log predicted - log measured) / scale) and of the squared
/// prior terms, by Levenberg-Marquardt with a numeric Jacobian that moves only the unknowns an observation depends on.
/// Deterministic: the same answer on any number of threads.
/// Source: Marquardt, J. SIAM 11 (1963); soft-L1 as reweighted least squares: Triggs et al., "Bundle adjustment", 1999,
/// section 3.3; errors of left-out groups in closed form: Cook & Weisberg, "Residuals and influence", 1982, 4.2.
/// Not modelled: correlation between observations alongside their weights; more than one optimum.
/// Checked against: tests/unit/planner/calibrate/robust_fit_test.cpp (brute force, closed forms, refits without a
/// group).

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "planner/question/stop_request.h"

namespace plumbline {

/// One unknown's start and range, all logarithms.
struct FitUnknown {
  double start = 0;
  double smallest = -std::numeric_limits<double>::infinity();
  double largest = std::numeric_limits<double>::infinity();
};

/// unknown - centre ~ normal(mean, sigma); the centre is another unknown or nothing.
struct PriorTerm {
  std::uint32_t unknown = 0;
  std::optional<std::uint32_t> centre;
  double mean = 0;
  double sigma = 1;
  bool is_held = false;  ///< the unknown stays where the prior has it, or as far from its centre
};

/// Calls add(row, column, curvature) for what a prior's term adds to the halved second derivatives of the objective.
template <class Add>
void add_curvature(const PriorTerm& term, Add add) {
  const double precision = 1 / (term.sigma * term.sigma);
  add(term.unknown, term.unknown, precision);
  if (!term.centre) return;
  add(*term.centre, *term.centre, precision);
  add(term.unknown, *term.centre, -precision);
  add(*term.centre, term.unknown, -precision);
}

struct FitObservation {
  double log_measured = 0;
  double weight = 1;
  std::vector<std::uint32_t> unknowns;  ///< on which its prediction depends; ascending
};

/// Logarithm of what observation `index` is predicted to measure. Pure; called from several threads.
using LogPrediction = std::function<double(std::size_t index, std::span<const double> unknowns)>;

struct FitProblem {
  std::vector<FitUnknown> unknowns;
  std::vector<PriorTerm> priors;  ///< every unknown in at least one
  std::vector<FitObservation> observations;
  LogPrediction predict;
};

struct FitOptions {
  double loss_scale = 0.06;
  int most_iterations = 12;
  double derivative_step = 0.02;  ///< of a logarithm; wide enough to average over the kinks of maxima
  double tolerance = 1e-4;        ///< of the objective, relative: smaller gains end the fit
  std::int32_t threads = 0;       ///< all cores when 0
  StopRequest stop = {};
  std::function<void(int iteration, double objective)> progress = {};
};

/// Sparse derivatives of one log prediction, in the order of FitObservation::unknowns.
using Gradient = std::vector<double>;

/// A number counts as identified when a fit leaves less than this share of its prior's sigma.
inline constexpr double identified_below = 0.7;

struct FitResult {
  std::vector<double> unknowns;
  std::vector<double> log_predicted;  ///< by observation
  std::vector<Gradient> gradients;    ///< by observation, at the last Jacobian
  std::vector<double> covariance;     ///< of the unknowns, row by row (n x n)
  double objective = 0;
  int iterations = 0;
  bool complete = false;  ///< false when it was stopped or ran out of iterations

  [[nodiscard]] double sigma(std::size_t unknown) const;
  /// Posterior over prior sigma of an unknown, or of its distance from its centre.
  [[nodiscard]] double share_left_open(const PriorTerm& prior) const;
  /// Of a log prediction that depends on `unknowns` with these derivatives: what the fit leaves open of it.
  [[nodiscard]] double variance(std::span<const std::uint32_t> unknowns, std::span<const double> derivatives) const;
};

/// Throws InternalError for an unknown without prior.
[[nodiscard]] FitResult fit(const FitProblem& problem, const FitOptions& options);
/// Derivatives of one log prediction by the difference over `step`.
[[nodiscard]] Gradient derivatives(const FitProblem& problem, std::size_t observation, std::span<const double> unknowns,
                                   double log_predicted, double step);
struct LeftOutError {
  double error = 0;     ///< log(predicted / measured)
  double variance = 0;  ///< of the log prediction: what a fit without the group leaves open
};
/// Of every observation had its group not been fitted, to first order of the fit. `groups`: by observation, from 0.
[[nodiscard]] std::vector<LeftOutError> left_out_errors(const FitProblem& problem, const FitResult& result,
                                                        std::span<const std::size_t> groups, double loss_scale);
/// The whole fit had the observations `members` not been fitted, to first order: where its unknowns lie, what it
/// predicts of all observations and leaves open; gradients as they were.
[[nodiscard]] FitResult without_group(const FitProblem& problem, const FitResult& result,
                                      std::span<const std::size_t> members, double loss_scale);

}  // namespace plumbline
