#pragma once
/// \file run_bill.h: what a whole run takes: days, GPU-hours, dollars, energy of the site, CO2.
///
/// Model: steps of the token budget, rounded up, times the step; dollars by the GPU-hour; every device and host at its
/// power limit all the time (an upper bound), times the site's PUE; emissions by the grid's intensity.
/// Not modelled: start-up, evaluation, checkpoints and failures of the run, storage and network traffic.
/// Checked against: tests/unit/planner/pricing/run_bill_test.cpp (by hand).

#include <optional>

#include "core/machine/cluster.h"
#include "core/machine/facility.h"
#include "core/plan/plan.h"

namespace plumbline {

struct BillTerms {
  std::optional<Sourced<Dollars>> price_per_device_hour;  ///< nothing: nobody knows one
  Facility facility = mean_facility();
};

/// What energy is counted from.
struct PowerFigures {
  Sourced<Watts> device;
  Sourced<Watts> host;  ///< of a node alongside its devices
};

struct RunBill {
  std::int64_t steps = 0;
  Interval days;
  double gpu_hours = 0;
  std::optional<Dollars> dollars;
  double energy_kwh = 0;  ///< of the site
  double co2_kg = 0;
};

/// The cluster's own price with its source, else its devices'; of a mixed cluster their mean.
[[nodiscard]] std::optional<Sourced<Dollars>> sourced_price(const Cluster& cluster);
/// Of several kinds of nodes, the means.
[[nodiscard]] PowerFigures power_figures(const Cluster& cluster);
/// The step that ranks a plan, simulated where it was, with the closed form's relative interval.
[[nodiscard]] Interval ranking_step(const Plan& plan);
/// Requires a plan with a token budget.
[[nodiscard]] RunBill run_bill(const Plan& plan, const BillTerms& terms);

}  // namespace plumbline
