#pragma once
/// \file held_numbers.h: which numbers of a fit can stay at their priors without describing the runs any worse.
///
/// Model: backward elimination. The unknowns and the covariance of one fit say how much the objective rises when a
/// number goes back to its prior (or to its prior distance from its centre) and all others are fitted again: its Wald
/// statistic. The number with the smallest rise is held, the mean and the covariance of the others are conditioned on
/// that, and this repeats until the smallest rise reaches `most_cost_of_holding`. Numbers that the runs determine,
/// alone or together with others, stay free. Source: Lawless & Singhal, "Efficient screening of nonnormal regression
/// models", Biometrics 34, 1978. Not modelled: the objective beyond second order; the caller fits again with these
/// numbers held. Checked against: tests/unit/planner/calibrate/held_numbers_test.cpp (refits with each number held in
/// turn).

#include "planner/calibrate/robust_fit.h"

namespace plumbline {

/// Rise of the objective, in which a number one sigma away from its prior counts 1. Chosen on runs that no fit has seen
/// (decision 0082).
inline constexpr double most_cost_of_holding = 0.02;

/// Says of each prior whether its number is held; identified ones are not. `result`: of a fit with these priors, none
/// of them held.
void hold_what_fits_as_well(std::vector<PriorTerm>& priors, const FitResult& result);

}  // namespace plumbline
