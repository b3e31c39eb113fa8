#include "planner/calibrate/recalibrated.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// A number that is known this well is as good as fixed; also keeps the priors' matrix regular.
constexpr double least_sigma = 1e-3;
/// A user's own rows are of one machine, one release and one hand: they count as this many published ones.
constexpr double weight_of_own = 2;
/// Posterior over prior sigma above which a number was not learned; its centre may have been, a little.
constexpr double nothing_learned = 0.8;

/// A number that nothing was learned of stays around its centre, so that stacks of one family move together.
PriorTerm prior_term(const Knowledge& known, const ParameterSpace& space, std::uint32_t u) {
  const PriorTerm& before = space.priors()[u];
  if (before.centre && known.sigmas[u] > nothing_learned * space.prior_sigma(u))
    return {u, before.centre, known.unknowns[u] - known.unknowns[*before.centre], before.sigma};
  return {u, std::nullopt, known.unknowns[u], std::max(least_sigma, known.sigmas[u])};
}

}  // namespace

Knowledge knowledge_of(const Trained& trained) {
  Knowledge known;
  known.unknowns = trained.result().unknowns;
  for (std::size_t u = 0; u < known.unknowns.size(); ++u) known.sigmas.push_back(trained.result().sigma(u));
  for (const RowClass row_class : all_row_classes)
    known.noise.at(static_cast<std::size_t>(row_class)) = trained.noise(row_class);
  return known;
}

Knowledge with_devices_held(Knowledge known, const ParameterSpace& space) {
  for (std::size_t u = 0; u < space.paths().size(); ++u)
    if (space.paths()[u].starts_with("device/")) known.sigmas[u] = 0;
  return known;
}

Recalibrated::Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRow>& rows,
                           const std::vector<std::size_t>& chosen, const FitOptions& options)
    : known_(known), space_(space), derivative_step_(options.derivative_step) {
  FitProblem problem;
  problem.unknowns = space.unknowns();
  for (std::uint32_t u = 0; u < problem.unknowns.size(); ++u) {
    problem.unknowns[u].start = known.unknowns[u];
    problem.priors.push_back(prior_term(known, space, u));
  }
  for (const std::size_t i : chosen)
    problem.observations.push_back({std::log(rows[i].measured_s), weight_of_own, space.unknowns_of(rows[i])});
  problem.predict = [&](std::size_t i, std::span<const double> x) { return space.log_step(rows[chosen[i]], x); };
  result_ = fit(problem, options);
}

Interval Recalibrated::predict(const FitRow& row) const {
  return predicted_interval(space_, result_, known_.noise.at(static_cast<std::size_t>(row.row_class)), row,
                            derivative_step_);
}

}  // namespace plumbline
