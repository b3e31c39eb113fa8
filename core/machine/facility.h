#pragma once
/// \file facility.h: the site that a cluster stands in: what it draws beyond its nodes, and what its grid emits.
///
/// Model: energy of the site = energy of the nodes times PUE; emissions = that energy times the grid's intensity.
/// Not modelled: hours of a day, purchased certificates, what was emitted to make the hardware.

#include "core/machine/sourced.h"

namespace plumbline {

struct Facility {
  Sourced<double> power_usage_effectiveness;  ///< PUE: energy of the site over that of its computers, 1 or more
  Sourced<double> grid_grams_per_kwh;         ///< of CO2 equivalent
};

/// World means, for a site that nobody described.
[[nodiscard]] inline Facility mean_facility() {
  return {{1.56, "Uptime Institute, Global Data Center Survey 2024: mean annual PUE of the respondents' largest site",
           SourceKind::published, "2024"},
          {480, "Ember, Global Electricity Review 2024: world mean of 2023, over the life cycle, at the generator",
           SourceKind::published, "2024-05"}};
}

}  // namespace plumbline
