#include "planner/calibrate/knowledge.h"

#include <algorithm>

namespace plumbline {
namespace {

/// A number that is known this well is as good as fixed; also keeps the priors' matrix regular.
constexpr double least_prior_sigma = 1e-3;
/// A user's own runs are of one machine, one release and one hand: they count as this many published ones.
constexpr double weight_of_own = 2;
/// Posterior over prior sigma above which a number was not learned; its centre may have been, a little.
constexpr double nothing_learned = 0.8;

PriorTerm prior_term(const Knowledge& known, const ParameterSpace& space, std::uint32_t u) {
  const PriorTerm& before = space.priors()[u];
  if (before.centre && known.sigmas[u] > nothing_learned * space.prior_sigma(u))
    return {u, before.centre, known.unknowns[u] - known.unknowns[*before.centre], before.sigma};
  return {u, std::nullopt, known.unknowns[u], std::max(least_prior_sigma, known.sigmas[u])};
}

}  // namespace

Knowledge knowledge_of(const FitResult& result) {
  Knowledge known{result.unknowns, {}};
  for (std::size_t u = 0; u < known.unknowns.size(); ++u) known.sigmas.push_back(result.sigma(u));
  return known;
}

Knowledge with_devices_held(Knowledge known, const ParameterSpace& space) {
  for (std::size_t u = 0; u < space.ids().size(); ++u)
    if (space.ids()[u].is_of_device()) known.sigmas[u] = 0;
  return known;
}

FitProblem recalibration(const Knowledge& known, const ParameterSpace& space, FewObservations few) {
  FitProblem problem;
  problem.unknowns = space.unknowns();
  for (std::uint32_t u = 0; u < problem.unknowns.size(); ++u) {
    problem.unknowns[u].start = known.unknowns[u];
    problem.priors.push_back(prior_term(known, space, u));
  }
  problem.observations = std::move(few.observations);
  for (FitObservation& observation : problem.observations) observation.weight = weight_of_own;
  problem.predict = std::move(few.predict);
  return problem;
}

}  // namespace plumbline
