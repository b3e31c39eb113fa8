#pragma once
/// \file held_numbers.h: which numbers of a fit may as well stay where their priors have them.
///
/// Model: backward elimination by Wald statistics of one fit. What it costs the objective to put a number back to its
/// prior (or to its distance from its centre) while all others move along follows from where the fit ended and its
/// covariance; the cheapest is put back, the rest is conditioned on that, and so on until the cheapest costs more than
/// `most_cost_of_holding`. Numbers that runs tell, each alone or several together, stay free.
/// Source: Lawless & Singhal, "Efficient screening of nonnormal regression models", Biometrics 34, 1978. Not modelled:
/// bends of the objective between prior and fit; a fit with these numbers held follows.
/// Checked against: tests/unit/planner/calibrate/held_numbers_test.cpp (fits with each number held).

#include "planner/calibrate/robust_fit.h"

namespace plumbline {

/// Of the objective, in which a number one sigma away from its prior counts 1.
inline constexpr double most_cost_of_holding = 0.02;

/// Says of each prior whether its number is held; identified ones are not. `result`: of a fit with these priors, none
/// of them held.
void hold_what_fits_as_well(std::vector<PriorTerm>& priors, const FitResult& result);

}  // namespace plumbline
