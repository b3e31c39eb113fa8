#include "cli/simulation_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>

#include "cli/flag_values.h"
#include "core/io/schedule_csv.h"

namespace plumbline {
namespace {

constexpr std::string_view flag = "--stage-speed";

[[noreturn]] void refuse(const std::string& part, std::string expected) {
  throw InputError({std::string(flag), "\"" + part.substr(0, 40) + "\"", std::move(expected), ""});
}

std::int32_t stage_of_part(const std::string& part, std::int32_t stages) {
  std::int32_t stage = -1;
  const std::size_t equals = part.find('=');
  if (equals == std::string::npos) refuse(part, "STAGE=SPEED, such as 3=0.8");
  const auto [end, error] = std::from_chars(part.data(), part.data() + equals, stage);
  if (error != std::errc{} || end != part.data() + equals || stage < 0 || stage >= stages)
    refuse(part, "a pipeline stage from 0 to " + std::to_string(stages - 1));
  return stage;
}

double speed_of_part(const std::string& part) {
  double speed = 0;
  const std::size_t begin = part.find('=') + 1;
  const auto [end, error] = std::from_chars(part.data() + begin, part.data() + part.size(), speed);
  if (error != std::errc{} || end != part.data() + part.size() ||
      !(speed >= session::slowest_stage && speed <= session::fastest_stage))
    refuse(part, "a speed from 0.01 to 100; 1 is as priced");
  return speed;
}

}  // namespace

std::vector<double> stage_speeds(const std::string& text, std::int32_t stages) {
  std::vector<double> speeds(static_cast<std::size_t>(stages), 1.0);
  std::vector<bool> given(speeds.size());
  for (const std::string& part : list_of(flag, text)) {
    const auto stage = static_cast<std::size_t>(stage_of_part(part, stages));
    if (given[stage]) refuse(part, "each stage once");
    given[stage] = true;
    speeds[stage] = speed_of_part(part);
  }
  return speeds;
}

void SimulationFlags::declare(CLI::App& app) {
  app.add_option("--order-csv", order_file_,
                 "simulate this order of compute actions, PyTorch's pipeline-schedule CSV, not the schedule's own")
      ->group("Simulation")
      ->type_name("FILE");
  app.add_option("--stage-speed", stage_speed_,
                 "relative speed of the compute of pipeline stages, such as 3=0.8,7=0.5; 1: as priced")
      ->group("Simulation")
      ->type_name("STAGE=X,...");
  app.add_flag("--by-block", by_block_, "actions of single blocks in place of whole pipeline chunks")
      ->group("Simulation");
}

session::SimulationRequest SimulationFlags::request(const Strategy& strategy) const {
  session::SimulationRequest request;
  request.granularity = by_block_ ? Granularity::block : Granularity::chunk;
  if (order_file_) {
    request.order = read_schedule_csv_file(*order_file_, pipeline_shape(strategy));
    request.order_name = *order_file_;
  }
  if (stage_speed_) request.stage_speeds = stage_speeds(*stage_speed_, strategy.pipeline_stages);
  return request;
}

}  // namespace plumbline
