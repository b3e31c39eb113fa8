#include "planner/calibrate/knowledge.h"

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

using namespace plumbline;
using Catch::Matchers::WithinRel;

namespace {

std::vector<FitRun> rows_of(const std::string& set_name) {
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == set_name) return fit_runs({set}, resolver_of_catalogue()).runs;
  FAIL("no runs " << set_name);
  return {};
}

/// Every number at its start, each known half as well again as its prior says.
Knowledge half_known(const ParameterSpace& space) {
  Knowledge known;
  for (std::size_t u = 0; u < space.ids().size(); ++u) {
    known.unknowns.push_back(space.unknowns()[u].start);
    known.sigmas.push_back(0.5 * space.prior_sigma(u));
  }
  return known;
}

}  // namespace

// Covariance {0.04, 0.01; 0.01, 0.09}: sigmas 0.2 and 0.3, the correlation is dropped.
TEST_CASE("What a fit found is known with its sigmas, each number on its own") {
  FitResult result;
  result.unknowns = {1.5, -0.5};
  result.covariance = {0.04, 0.01, 0.01, 0.09};
  const Knowledge known = knowledge_of(result);
  CHECK(known.unknowns == result.unknowns);
  CHECK_THAT(known.sigmas[0], WithinRel(0.2, 1e-12));
  CHECK_THAT(known.sigmas[1], WithinRel(0.3, 1e-12));
}

TEST_CASE("A few runs move a stack's numbers and leave the device's where they are") {
  const std::vector<FitRun> runs = rows_of("zero_bubble");
  const ParameterSpace space(CalibrationSet::shipped(), shipped_priors(), runs);
  const Knowledge known = half_known(space);
  const Knowledge held = with_devices_held(known, space);
  std::size_t of_devices = 0;
  for (std::size_t u = 0; u < space.ids().size(); ++u) {
    const bool is_device = space.ids()[u].is_of_device();
    of_devices += is_device ? 1 : 0;
    CHECK(held.sigmas[u] == (is_device ? 0 : known.sigmas[u]));
  }
  CHECK(of_devices > 0);
  CHECK(of_devices < space.ids().size());
  CHECK(held.unknowns == known.unknowns);
  // A sigma of 0 would make the priors' matrix singular: what is held is known to a thousandth.
  for (const PriorTerm& term : recalibration(held, space, {}).priors)
    if (space.ids()[term.unknown].is_of_device()) CHECK(term.sigma == 1e-3);
}

TEST_CASE("A number that was learned is its own prior; one of which nothing was learned follows its centre") {
  const std::vector<FitRun> runs = rows_of("zero_bubble");
  const ParameterSpace space(CalibrationSet::shipped(), shipped_priors(), runs);
  const auto centred = std::find_if(space.priors().begin(), space.priors().end(),
                                    [](const PriorTerm& term) { return term.centre.has_value(); });
  REQUIRE(centred != space.priors().end());
  const std::uint32_t u = centred->unknown;
  Knowledge known = half_known(space);
  known.unknowns[u] += 0.07;
  const PriorTerm learned = recalibration(known, space, {}).priors[u];
  CHECK_FALSE(learned.centre.has_value());
  CHECK(learned.mean == known.unknowns[u]);
  CHECK(learned.sigma == known.sigmas[u]);

  known.sigmas[u] = 0.95 * space.prior_sigma(u);
  const PriorTerm unlearned = recalibration(known, space, {}).priors[u];
  CHECK(unlearned.centre == centred->centre);
  CHECK_THAT(unlearned.mean, WithinRel(known.unknowns[u] - known.unknowns[*centred->centre], 1e-12));
  CHECK(unlearned.sigma == centred->sigma);
}

TEST_CASE("A recalibration starts from what is known, and own runs weigh as two published ones each") {
  const std::vector<FitRun> runs = rows_of("zero_bubble");
  const ParameterSpace space(CalibrationSet::shipped(), shipped_priors(), runs);
  Knowledge known = half_known(space);
  for (double& unknown : known.unknowns) unknown += 0.01;
  const FitProblem problem = recalibration(known, space, {{{0.5, 0.25, {0}}, {0.6, 1, {0}}}, {}});
  for (std::size_t u = 0; u < known.unknowns.size(); ++u) CHECK(problem.unknowns[u].start == known.unknowns[u]);
  REQUIRE(problem.observations.size() == 2);
  for (const FitObservation& observation : problem.observations) CHECK(observation.weight == 2);
  CHECK(problem.observations[0].log_measured == 0.5);
}
