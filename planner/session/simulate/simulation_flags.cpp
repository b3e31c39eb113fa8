#include "planner/session/simulate/simulation_flags.h"

#include <charconv>

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"
#include "core/io/value_text.h"

namespace plumbline::session {
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
  if (error != std::errc{} || end != part.data() + part.size() || !(speed >= slowest_stage && speed <= fastest_stage))
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

SimulationRequest SimulationFlags::request(const Strategy& strategy) const {
  SimulationRequest request;
  request.granularity = by_block ? Granularity::block : Granularity::chunk;
  if (order_file) {
    request.order = read_schedule_csv_file(*order_file, pipeline_shape(strategy));
    request.order_name = *order_file;
  }
  if (stage_speed) request.stage_speeds = stage_speeds(*stage_speed, strategy.pipeline_stages);
  return request;
}

const Options<SimulationFlags>& simulation_options() {
  static const Options<SimulationFlags> options{
      text_option<SimulationFlags>(
          &SimulationFlags::order_file,
          {"--order-csv", "FILE",
           "simulate this order of compute actions, PyTorch's pipeline-schedule CSV, not the schedule's own"}),
      text_option<SimulationFlags>(
          &SimulationFlags::stage_speed,
          {"--stage-speed", "STAGE=X,...",
           "relative speed of the compute of pipeline stages, such as 3=0.8,7=0.5; 1: as priced"}),
      switch_option(&SimulationFlags::by_block,
                    {"--by-block", "", "actions of single blocks in place of whole pipeline chunks"})};
  return options;
}

}  // namespace plumbline::session
