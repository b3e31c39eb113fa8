#include "planner/session/simulate/simulate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/simulation_json.h"
#include "core/quantity/text.h"
#include "planner/present/plan_tables.h"
#include "planner/session/flags/asked_plan.h"
#include "planner/session/simulate/simulation_flags.h"

namespace plumbline::session {
namespace {

void require_speeds(const std::vector<double>& speeds, std::int32_t stages) {
  if (!speeds.empty() && std::ssize(speeds) != stages)
    throw InputError({"stage speeds", std::to_string(speeds.size()) + " for " + std::to_string(stages) + " stages",
                      "one for each pipeline stage, or none", ""});
  for (const double speed : speeds)
    if (!(speed >= slowest_stage && speed <= fastest_stage))
      throw InputError({"stage speeds", fixed(speed, 3), "a speed from 0.01 to 100; 1 is as priced", ""});
}

void require_order(const std::optional<ComputeSchedule>& order, const Strategy& strategy) {
  if (order && order->shape != pipeline_shape(strategy))
    throw InputError({"order", "is one of another pipeline", "stages, chunks and micro-batches of the strategy", ""});
}

}  // namespace

std::optional<SimulationAnswer> simulate(const PricedQuestion& asked, const SimulationRequest& request,
                                         const Task& task) {
  const Strategy& strategy = asked.strategy;
  require_speeds(request.stage_speeds, strategy.pipeline_stages);
  require_order(request.order, strategy);
  SimulationOptions options;
  options.granularity = request.granularity;
  options.order = request.order;
  options.extent = Extent::informative;
  for (const double speed : request.stage_speeds) options.timeline.slowdown.push_back(1 / speed);
  if (task.is_stopped()) return std::nullopt;
  SimulationAnswer answer{request, simulated(asked.question, strategy, options), std::nullopt};
  if (!request.stage_speeds.empty()) {
    if (task.is_stopped()) return std::nullopt;
    options.timeline = {};
    answer.step_at_speed_1 = simulated(asked.question, strategy, options).simulation.step();
  }
  task.end("simulated");
  return answer;
}

ComputeSchedule order_of(const PricedQuestion& asked, const SimulationRequest& request) {
  return request.order ? *request.order : compute_schedule(asked.strategy.schedule, pipeline_shape(asked.strategy));
}

SimulationSetting setting_of(const PricedQuestion& asked, const SimulationAnswer& answer) {
  const SimulationRequest& request = answer.request;
  return {std::string(to_text(asked.plan.strategy.schedule)), Seconds(asked.plan.prediction.step_time_s.expected),
          request.order ? std::optional(request.order_name) : std::nullopt, request.stage_speeds,
          answer.step_at_speed_1};
}

namespace {

Answer shown(const PricedQuestion& asked, const SimulationAnswer& simulated) {
  Answer answer;
  answer.json =
      to_json_text(to_json(simulated.simulated.program, simulated.simulated.simulation, setting_of(asked, simulated)));
  answer.tables["time"] = present::time_table(simulated.simulated.simulation.time);
  return answer;
}

}  // namespace

UseCase simulate_use_case() {
  struct Asked {
    AskedPlan plan;
    SimulationFlags simulation;
  };
  const auto asked = std::make_shared<Asked>();
  UseCase use_case;
  asked->plan.bind(use_case.options);
  bind_options(use_case.options, simulation_options(), asked->simulation);
  use_case.work = [asked](const Inputs& inputs) {
    return Work{[request = asked->plan.request(inputs.source), flags = asked->simulation](const Task& task) {
                  const PricedQuestion priced = estimate(request);
                  const auto simulated = simulate(priced, flags.request(priced.strategy), task);
                  Answer answer;
                  if (simulated) answer = shown(priced, *simulated);
                  answer.complete = answer.found = simulated.has_value();
                  answer.warning = priced.warning;
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
