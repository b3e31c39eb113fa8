#include "planner/calibrate/robust_fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "planner/calibrate/eigen_index.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double first_damping = 1e-3;
constexpr double damping_down = 0.2;
constexpr double damping_up = 6;
constexpr double most_damping = 1e6;

double soft_l1(double z) { return 2 * (std::sqrt(1 + z * z) - 1); }

/// The quadratic model of the objective at one point: objective + 2 gradient.d + d.curvature.d, both halved.
struct QuadraticModel {
  Matrix curvature;
  Vector gradient;
};

void add_priors(const FitProblem& problem, std::span<const double> x, QuadraticModel& model) {
  for (const PriorTerm& term : problem.priors) {
    const double precision = 1 / (term.sigma * term.sigma);
    const double away = x[term.unknown] - (term.centre ? x[*term.centre] : 0) - term.mean;
    add_curvature(term, [&](std::uint32_t i, std::uint32_t j, double curvature) {
      model.curvature(eigen_index(i), eigen_index(j)) += curvature;
    });
    model.gradient(eigen_index(term.unknown)) += precision * away;
    if (term.centre) model.gradient(eigen_index(*term.centre)) -= precision * away;
  }
}

/// The weight of an observation in the least squares that have the robust objective's gradient.
double robust_weight(const FitObservation& observation, double residual, double scale) {
  const double z = residual / scale;
  return observation.weight / (scale * scale) / std::sqrt(1 + z * z);
}

/// The unknowns that move freely, and those that are held, which move with their centres or not at all.
class FreeUnknowns {
 public:
  explicit FreeUnknowns(const FitProblem& problem) : column_(problem.unknowns.size()), held_(problem.unknowns.size()) {
    for (const PriorTerm& term : problem.priors)
      if (term.is_held) held_[term.unknown] = &term;
    for (std::uint32_t u = 0; u < column_.size(); ++u)
      if (held_[u] == nullptr) column_[u] = columns_++;
    for (std::uint32_t u = 0; u < column_.size(); ++u) {
      std::optional<std::uint32_t> moves = u;
      while (moves && held_[*moves] != nullptr) moves = held_[*moves]->centre;
      if (moves) column_[u] = column_[*moves];
    }
  }

  /// Puts what is held where it is held.
  void place_held(std::span<double> x) const {
    for (std::uint32_t u = 0; u < x.size(); ++u) x[u] = place(u, x);
  }
  [[nodiscard]] Matrix among(const Matrix& curvature) const {
    Matrix result = Matrix::Zero(columns_, columns_);
    for (std::size_t i = 0; i < column_.size(); ++i)
      for (std::size_t j = 0; j < column_.size(); ++j)
        if (column_[i] && column_[j]) result(*column_[i], *column_[j]) += curvature(eigen_index(i), eigen_index(j));
    return result;
  }
  [[nodiscard]] Vector among(const Vector& gradient) const {
    Vector result = Vector::Zero(columns_);
    for (std::size_t i = 0; i < column_.size(); ++i)
      if (column_[i]) result(*column_[i]) += gradient(eigen_index(i));
    return result;
  }
  /// How all unknowns move where the free ones move so.
  [[nodiscard]] Vector all(const Vector& free) const {
    Vector result = Vector::Zero(eigen_index(column_.size()));
    for (std::size_t i = 0; i < column_.size(); ++i)
      if (column_[i]) result(eigen_index(i)) = free(*column_[i]);
    return result;
  }

 private:
  [[nodiscard]] double place(std::uint32_t unknown, std::span<const double> x) const {
    const PriorTerm* held = held_[unknown];
    if (held == nullptr) return x[unknown];
    return held->mean + (held->centre ? place(*held->centre, x) : 0);
  }

  std::vector<std::optional<Eigen::Index>> column_;  ///< by unknown; none where it does not move
  std::vector<const PriorTerm*> held_;               ///< by unknown
  Eigen::Index columns_ = 0;
};

void add_observation(const FitObservation& observation, const Gradient& gradient, double residual, double weight,
                     QuadraticModel& model) {
  for (std::size_t a = 0; a < gradient.size(); ++a) {
    const Eigen::Index i = eigen_index(observation.unknowns[a]);
    model.gradient(i) += weight * gradient[a] * residual;
    for (std::size_t b = 0; b < gradient.size(); ++b)
      model.curvature(i, eigen_index(observation.unknowns[b])) += weight * gradient[a] * gradient[b];
  }
}

QuadraticModel empty_model(std::size_t unknowns) {
  return {Matrix::Zero(eigen_index(unknowns), eigen_index(unknowns)), Vector::Zero(eigen_index(unknowns))};
}

double objective_of(const FitProblem& problem, std::span<const double> x, std::span<const double> log_predicted,
                    double scale) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const FitObservation& o = problem.observations[i];
    sum += o.weight * soft_l1((log_predicted[i] - o.log_measured) / scale);
  }
  for (const PriorTerm& term : problem.priors) {
    const double away = (x[term.unknown] - (term.centre ? x[*term.centre] : 0) - term.mean) / term.sigma;
    sum += away * away;
  }
  return sum;
}

class Fitter {
 public:
  Fitter(const FitProblem& problem, const FitOptions& options) : problem_(problem), options_(options), free_(problem) {
    for (const FitUnknown& unknown : problem.unknowns) x_.push_back(unknown.start);
    free_.place_held(x_);
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = std::clamp(x_[i], problem.unknowns[i].smallest, problem.unknowns[i].largest);
    log_predicted_ = predicted(x_);
    objective_ = objective_of(problem_, x_, log_predicted_, options_.loss_scale);
  }

  FitResult run() {
    FitResult result;
    while (result.iterations < options_.most_iterations && !options_.stop.stop_requested()) {
      const double before = objective_;
      differentiate();
      const bool moved = step(model());
      ++result.iterations;
      if (options_.progress) options_.progress(result.iterations, objective_);
      if (moved && before - objective_ > options_.tolerance * before) continue;
      result.complete = true;
      break;
    }
    differentiate();
    result.gradients = std::move(gradients_);
    const Matrix covariance = final_model(result.gradients)
                                  .curvature.ldlt()
                                  .solve(Matrix::Identity(eigen_index(x_.size()), eigen_index(x_.size())));
    result.covariance.assign(covariance.data(), covariance.data() + covariance.size());
    result.unknowns = std::move(x_);
    result.log_predicted = std::move(log_predicted_);
    result.objective = objective_;
    return result;
  }

 private:
  [[nodiscard]] std::vector<double> predicted(const std::vector<double>& x) const {
    std::vector<double> values(problem_.observations.size());
    parallel_for(values.size(), thread_count(options_.threads),
                 [&](std::size_t i) { values[i] = problem_.predict(i, x); });
    return values;
  }
  void differentiate() {
    gradients_.resize(problem_.observations.size());
    parallel_for(gradients_.size(), thread_count(options_.threads), [&](std::size_t i) {
      gradients_[i] = derivatives(problem_, i, x_, log_predicted_[i], options_.derivative_step);
    });
  }
  [[nodiscard]] QuadraticModel final_model(const std::vector<Gradient>& gradients) const {
    QuadraticModel model = empty_model(x_.size());
    add_priors(problem_, x_, model);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const FitObservation& o = problem_.observations[i];
      const double residual = log_predicted_[i] - o.log_measured;
      add_observation(o, gradients[i], residual, robust_weight(o, residual, options_.loss_scale), model);
    }
    return model;
  }
  [[nodiscard]] QuadraticModel model() const { return final_model(gradients_); }

  /// False when no step makes it better.
  bool step(const QuadraticModel& model) {
    const Matrix curvature = free_.among(model.curvature);
    const Vector downhill = -free_.among(model.gradient);
    for (; damping_ < most_damping; damping_ *= damping_up) {
      Matrix damped = curvature;
      damped.diagonal() *= 1 + damping_;
      const Vector move = free_.all(damped.ldlt().solve(downhill));
      std::vector<double> moved = x_;
      for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] =
            std::clamp(moved[i] + move(eigen_index(i)), problem_.unknowns[i].smallest, problem_.unknowns[i].largest);
      std::vector<double> values = predicted(moved);
      const double objective = objective_of(problem_, moved, values, options_.loss_scale);
      if (!(objective < objective_)) continue;
      x_ = std::move(moved);
      log_predicted_ = std::move(values);
      objective_ = objective;
      damping_ *= damping_down;
      return true;
    }
    damping_ = first_damping;
    return false;
  }

  const FitProblem& problem_;
  const FitOptions& options_;
  FreeUnknowns free_;
  std::vector<double> x_;
  std::vector<double> log_predicted_;
  std::vector<Gradient> gradients_;
  double objective_ = 0;
  double damping_ = first_damping;
};

void require_priors(const FitProblem& problem) {
  std::vector<bool> has_prior(problem.unknowns.size());
  for (const PriorTerm& term : problem.priors) has_prior[term.unknown] = true;
  check(std::all_of(has_prior.begin(), has_prior.end(), [](bool has) { return has; }), "every unknown has a prior");
}

Vector dense(const FitObservation& observation, const Gradient& gradient, std::size_t unknowns) {
  Vector result = Vector::Zero(eigen_index(unknowns));
  for (std::size_t a = 0; a < gradient.size(); ++a) result(eigen_index(observation.unknowns[a])) = gradient[a];
  return result;
}

/// What one group adds to the quadratic model, to be taken away again.
QuadraticModel share_of(const FitProblem& problem, const FitResult& result, std::span<const std::size_t> members,
                        double scale) {
  QuadraticModel share = empty_model(problem.unknowns.size());
  for (const std::size_t i : members) {
    const FitObservation& o = problem.observations[i];
    const double residual = result.log_predicted[i] - o.log_measured;
    add_observation(o, result.gradients[i], residual, robust_weight(o, residual, scale), share);
  }
  return share;
}

}  // namespace

double FitResult::sigma(std::size_t unknown) const {
  return std::sqrt(std::max(0.0, covariance[unknown * unknowns.size() + unknown]));
}

double FitResult::share_left_open(const PriorTerm& prior) const {
  if (!prior.centre) return sigma(prior.unknown) / prior.sigma;
  const std::vector<std::uint32_t> both{prior.unknown, *prior.centre};
  const std::vector<double> difference{1, -1};
  return std::sqrt(variance(both, difference)) / prior.sigma;
}

double FitResult::variance(std::span<const std::uint32_t> at, std::span<const double> derivatives) const {
  double sum = 0;
  for (std::size_t a = 0; a < at.size(); ++a)
    for (std::size_t b = 0; b < at.size(); ++b)
      sum += derivatives[a] * derivatives[b] * covariance[at[a] * unknowns.size() + at[b]];
  return std::max(0.0, sum);
}

Gradient derivatives(const FitProblem& problem, std::size_t observation, std::span<const double> unknowns,
                     double log_predicted, double step) {
  std::vector<double> moved(unknowns.begin(), unknowns.end());
  Gradient gradient;
  for (const std::uint32_t u : problem.observations[observation].unknowns) {
    const double from = moved[u];
    const double move = from + step <= problem.unknowns[u].largest ? step : -step;
    moved[u] = from + move;
    gradient.push_back((problem.predict(observation, moved) - log_predicted) / move);
    moved[u] = from;
  }
  return gradient;
}

FitResult fit(const FitProblem& problem, const FitOptions& options) {
  require_priors(problem);
  return Fitter(problem, options).run();
}

std::vector<LeftOutError> left_out_errors(const FitProblem& problem, const FitResult& result,
                                          std::span<const std::size_t> groups, double loss_scale) {
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] >= members.size()) members.resize(groups[i] + 1);
    members[groups[i]].push_back(i);
  }
  const FreeUnknowns free(problem);
  QuadraticModel all = empty_model(problem.unknowns.size());
  add_priors(problem, result.unknowns, all);
  for (const std::vector<std::size_t>& group : members) {
    const QuadraticModel share = share_of(problem, result, group, loss_scale);
    all.curvature += share.curvature;
  }
  std::vector<LeftOutError> errors(groups.size());
  for (const std::vector<std::size_t>& group : members) {
    const QuadraticModel share = share_of(problem, result, group, loss_scale);
    const Matrix curvature = all.curvature - share.curvature;
    const auto without = curvature.ldlt();
    const Vector move = free.all(free.among(curvature).ldlt().solve(free.among(share.gradient)));
    for (const std::size_t i : group) {
      const FitObservation& o = problem.observations[i];
      const Vector gradient = dense(o, result.gradients[i], problem.unknowns.size());
      errors[i] = {result.log_predicted[i] - o.log_measured + gradient.dot(move),
                   std::max(0.0, gradient.dot(without.solve(gradient)))};
    }
  }
  return errors;
}

FitResult without_group(const FitProblem& problem, const FitResult& result, std::span<const std::size_t> members,
                        double loss_scale) {
  std::vector<bool> is_left(problem.observations.size());
  for (const std::size_t i : members) is_left[i] = true;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < is_left.size(); ++i)
    if (!is_left[i]) kept.push_back(i);
  QuadraticModel without = share_of(problem, result, kept, loss_scale);
  add_priors(problem, result.unknowns, without);
  const FreeUnknowns free(problem);
  // The whole gradient is zero where the fit ended, so what is left of it is minus the group's.
  const Vector left = free.among(share_of(problem, result, members, loss_scale).gradient);
  const Vector move = free.all(free.among(without.curvature).ldlt().solve(left));
  FitResult moved = result;
  for (std::size_t u = 0; u < moved.unknowns.size(); ++u) moved.unknowns[u] += move(eigen_index(u));
  for (std::size_t i = 0; i < moved.log_predicted.size(); ++i)
    moved.log_predicted[i] += dense(problem.observations[i], result.gradients[i], moved.unknowns.size()).dot(move);
  const Matrix covariance = without.curvature.ldlt().solve(Matrix::Identity(move.size(), move.size()));
  moved.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  return moved;
}

}  // namespace plumbline
