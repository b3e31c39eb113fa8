#include "planner/calibrate/informative_runs.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "planner/calibrate/eigen_index.h"

namespace plumbline {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix precision_of(const std::vector<PriorTerm>& priors, std::size_t unknowns) {
  Matrix precision = Matrix::Zero(eigen_index(unknowns), eigen_index(unknowns));
  for (const PriorTerm& term : priors)
    add_curvature(term, [&](std::uint32_t i, std::uint32_t j, double curvature) {
      precision(eigen_index(i), eigen_index(j)) += curvature;
    });
  return precision;
}

/// The best at `place` of `chosen`; the first of equals, the present one where none is better.
std::size_t best_at(std::size_t place, const RemainingUncertainty& uncertainty, std::vector<std::size_t> chosen) {
  std::size_t best = chosen[place];
  double least = uncertainty.after(chosen);
  const std::vector<std::size_t> before = chosen;
  for (std::size_t candidate = 0; candidate < uncertainty.candidates(); ++candidate) {
    if (std::find(before.begin(), before.end(), candidate) != before.end()) continue;
    chosen[place] = candidate;
    const double sum = uncertainty.after(chosen);
    if (sum < least) best = candidate, least = sum;
  }
  return best;
}

}  // namespace

RemainingUncertainty::RemainingUncertainty(const std::vector<PriorTerm>& priors, std::size_t unknowns,
                                           const std::vector<LogSensitivity>& candidates)
    : candidates_(candidates.size()) {
  Matrix slopes = Matrix::Zero(eigen_index(unknowns), eigen_index(candidates.size()));
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t a = 0; a < candidates[i].unknowns.size(); ++a)
      slopes(eigen_index(candidates[i].unknowns[a]), eigen_index(i)) = candidates[i].derivatives[a];
  const Matrix covariance = slopes.transpose() * precision_of(priors, unknowns).ldlt().solve(slopes);
  covariance_.assign(covariance.data(), covariance.data() + covariance.size());
}

double RemainingUncertainty::after(const std::vector<std::size_t>& chosen) const {
  const Eigen::Map<const Matrix> all(covariance_.data(), eigen_index(candidates_), eigen_index(candidates_));
  Matrix among(eigen_index(chosen.size()), eigen_index(chosen.size()));
  Matrix with(eigen_index(chosen.size()), eigen_index(candidates_));
  for (std::size_t a = 0; a < chosen.size(); ++a) {
    with.row(eigen_index(a)) = all.row(eigen_index(chosen[a]));
    for (std::size_t b = 0; b < chosen.size(); ++b)
      among(eigen_index(a), eigen_index(b)) = all(eigen_index(chosen[a]), eigen_index(chosen[b]));
    among(eigen_index(a), eigen_index(a)) += noise_of_few_runs * noise_of_few_runs;
  }
  const Matrix learned = among.ldlt().solve(with);
  double sum = 0;
  for (Eigen::Index i = 0; i < eigen_index(candidates_); ++i)
    sum += std::sqrt(std::max(0.0, all(i, i) - with.col(i).dot(learned.col(i))));
  return sum;
}

std::vector<std::size_t> informative_runs(const RemainingUncertainty& uncertainty, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (uncertainty.candidates() <= count) {
    chosen.resize(uncertainty.candidates());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  for (std::size_t place = 0; place < count; ++place) {
    std::size_t first = 0;
    while (std::find(chosen.begin(), chosen.end(), first) != chosen.end()) ++first;
    chosen.push_back(first);
    chosen.back() = best_at(place, uncertainty, chosen);
  }
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t place = 0; place < count; ++place) {
      const std::size_t better = best_at(place, uncertainty, chosen);
      moves = moves || better != chosen[place];
      chosen[place] = better;
    }
  }
  return chosen;
}

}  // namespace plumbline
