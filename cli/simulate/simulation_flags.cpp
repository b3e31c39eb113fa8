#include "cli/simulate/simulation_flags.h"

#include "cli/flags/declare_options.h"

namespace plumbline {

void SimulationFlags::declare(CLI::App& app) {
  declare_options(app, session::simulation_options(), flags_, "Simulation");
}

}  // namespace plumbline
