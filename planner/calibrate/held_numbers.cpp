#include "planner/calibrate/held_numbers.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "planner/calibrate/eigen_index.h"

namespace plumbline {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Mean and covariance of the unknowns, as numbers are put back one by one.
class Conditioned {
 public:
  explicit Conditioned(const FitResult& result)
      : mean_(Eigen::Map<const Vector>(result.unknowns.data(), eigen_index(result.unknowns.size()))),
        covariance_(Eigen::Map<const Matrix>(result.covariance.data(), mean_.size(), mean_.size())) {}

  /// What it costs the objective to put back the number of a prior.
  [[nodiscard]] double cost(const PriorTerm& prior) const {
    const double distance = away(prior);
    return distance * distance / variance(prior);
  }
  [[nodiscard]] double share_left_open(const PriorTerm& prior) const {
    return std::sqrt(variance(prior)) / prior.sigma;
  }
  void put_back(const PriorTerm& prior) {
    Vector along = covariance_.col(eigen_index(prior.unknown));
    if (prior.centre) along -= covariance_.col(eigen_index(*prior.centre));
    const double of_prior = variance(prior);
    mean_ -= along * (away(prior) / of_prior);
    covariance_ -= along * along.transpose() / of_prior;
  }

 private:
  [[nodiscard]] double away(const PriorTerm& prior) const {
    return mean_(eigen_index(prior.unknown)) - (prior.centre ? mean_(eigen_index(*prior.centre)) : 0) - prior.mean;
  }
  [[nodiscard]] double variance(const PriorTerm& prior) const {
    constexpr double least = 1e-12;  // rounding may leave less than 0 where held numbers determine this one
    const Eigen::Index u = eigen_index(prior.unknown);
    double result = covariance_(u, u);
    if (prior.centre) {
      const Eigen::Index c = eigen_index(*prior.centre);
      result += covariance_(c, c) - 2 * covariance_(u, c);
    }
    return std::max(least, result);
  }

  Vector mean_;
  Matrix covariance_;
};

}  // namespace

void hold_what_fits_as_well(std::vector<PriorTerm>& priors, const FitResult& result) {
  Conditioned rest(result);
  for (;;) {
    PriorTerm* cheapest = nullptr;
    double least = most_cost_of_holding;
    for (PriorTerm& prior : priors) {
      if (prior.is_held || rest.share_left_open(prior) < identified_below) continue;
      const double cost = rest.cost(prior);
      if (cost < least) least = cost, cheapest = &prior;
    }
    if (cheapest == nullptr) return;
    cheapest->is_held = true;
    rest.put_back(*cheapest);
  }
}

}  // namespace plumbline
