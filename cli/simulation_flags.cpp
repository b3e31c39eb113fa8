#include "cli/simulation_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace plumbline {

void SimulationFlags::declare(CLI::App& app) {
  app.add_option("--order-csv", flags_.order_file,
                 "simulate this order of compute actions, PyTorch's pipeline-schedule CSV, not the schedule's own")
      ->group("Simulation")
      ->type_name("FILE");
  app.add_option("--stage-speed", flags_.stage_speed,
                 "relative speed of the compute of pipeline stages, such as 3=0.8,7=0.5; 1: as priced")
      ->group("Simulation")
      ->type_name("STAGE=X,...");
  app.add_flag("--by-block", flags_.by_block, "actions of single blocks in place of whole pipeline chunks")
      ->group("Simulation");
}

}  // namespace plumbline
