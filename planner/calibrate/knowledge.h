#pragma once
/// \file knowledge.h: what a fit knows of its numbers, as priors of the next one.
///
/// Model: every number keeps its value and uncertainty, each on its own; correlations are dropped, which leaves more
/// freedom than there is. A number that nothing was learned of stays around its centre, so that stacks of one family
/// move together. Not modelled: what the numbers of a fit have in common.
/// Checked against: tests/unit/planner/calibrate/knowledge_test.cpp (what becomes of each number) and
/// tests/unit/planner/calibrate/cross_validation_test.cpp (three runs of a slower world).

#include "planner/calibrate/parameter_space.h"

namespace plumbline {

/// Logarithms of the numbers of a space, and their sigmas.
struct Knowledge {
  std::vector<double> unknowns;
  std::vector<double> sigmas;
};
[[nodiscard]] Knowledge knowledge_of(const FitResult& result);
/// The same with every number of a device held: a few steps cannot tell a slow device from a slow framework.
[[nodiscard]] Knowledge with_devices_held(Knowledge known, const ParameterSpace& space);

/// What is known, moved by a few observations.
struct FewObservations {
  std::vector<FitObservation> observations;  ///< their weights are set here
  LogPrediction predict;
};
[[nodiscard]] FitProblem recalibration(const Knowledge& known, const ParameterSpace& space, FewObservations few);

}  // namespace plumbline
