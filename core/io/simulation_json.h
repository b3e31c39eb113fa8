#pragma once
/// \file simulation_json.h: a played step as the JSON of `simulate`.

#include "core/io/json.h"
#include "core/simulate/simulation.h"

namespace plumbline {

[[nodiscard]] Json to_json(const Simulation& simulation);

}  // namespace plumbline
