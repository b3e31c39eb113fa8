// A simulation, asked by flags or of a plan.
#include "core/io/json.h"
#include "core/io/simulation_json.h"
#include "planner/present/plan_tables.h"
#include "planner/session/flags/asked_plan.h"
#include "planner/session/simulate/simulate.h"
#include "planner/session/simulate/simulation_flags.h"

namespace plumbline::session {
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
                  answer.remark = priced.remark;
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
