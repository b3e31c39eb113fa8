// plan simulate: one strategy lowered to a program and simulated: timeline, trace, where the time goes.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <utility>
#include <vector>

#include "cli/flags/plan_file.h"
#include "cli/flags/plan_options.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/simulate/peak_view.h"
#include "cli/simulate/simulation_flags.h"
#include "cli/simulate/timeline_view.h"
#include "cli/verb.h"
#include "core/io/schedule_csv.h"
#include "core/io/simulation_json.h"
#include "core/io/timeline_svg.h"
#include "core/io/trace_json.h"
#include "core/quantity/text.h"
#include "planner/session/simulate/instructions.h"

namespace plumbline {
namespace {

std::string lines_of(const std::string& sentence) { return wrapped(sentence, terminal_columns(), 2) + "\n"; }

std::string step_text(const Plan& plan, const session::SimulationAnswer& answer, const SimulationFlags& flags) {
  const double closed = plan.prediction.step_time_s.expected;
  const double simulated = to_seconds(answer.simulated.simulation.step()).value();
  std::string text;
  if (answer.request.order) text += "order of " + answer.request.order_name + "\n";
  text += lines_of("simulated step " + to_text(Seconds(simulated)) + ", " +
                   std::to_string(answer.simulated.simulation.actions) + " actions; closed form of schedule " +
                   std::string(to_text(plan.strategy.schedule)) + " " + to_text(Seconds(closed)) + " (" +
                   difference_text(simulated, closed) + ")");
  if (const LeftOut& left_out = answer.simulated.simulation.left_out; left_out.micro_batches > 0)
    text += lines_of("steady state: " + std::to_string(left_out.micro_batches) +
                     " micro-batches are counted, but not in a trace or picture one by one");
  if (!answer.step_at_speed_1) return text;
  const double priced = to_seconds(*answer.step_at_speed_1).value();
  return text + lines_of("with stage speeds " + *flags.speed_text() + "; all stages at speed 1: " +
                         to_text(Seconds(priced)) + " (" + difference_text(simulated, priced) + ")");
}

PictureWords picture_words(const session::PricedQuestion& asked, const Simulation& s) {
  const Plan& plan = asked.plan;
  std::vector<Bytes> of_stages;
  if (asked.question.sites().count() > 1)
    for (const std::int32_t site : asked.question.stage_sites(plan.strategy).of_rank)
      of_stages.push_back(asked.question.capacity(site));
  return {plan.model.name + " on " + plan.machine.devices_text(),
          to_text(plan.strategy) + ": step " + to_text(to_seconds(s.step())) + ", bubble " +
              per_cent_text(s.time[TimeCause::pipeline_bubble] / s.step()),
          asked.question.capacity(), std::move(of_stages)};
}

class SimulateVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "simulate", "one configuration simulated action by action: timeline, trace, memory curve",
        "--plan plan.json [--order-csv s.csv] [--trace t.json] [--picture p.svg]",
        "Lowers the strategy to the actions of every pipeline rank and simulates them, in the order of its schedule or "
        "in "
        "one of your own (PyTorch's compute-only pipeline-schedule CSV). The picture has a lane of time and a curve of "
        "memory for each stage; the trace opens in Perfetto (ui.perfetto.dev) or chrome://tracing.",
        "plan simulate --plan plan.json --picture step.svg --trace trace.json"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    flags_.declare(app);
    output_.declare(app, "write the plan to this file");
    trace_.declare(app, "write a Chrome trace to this file");
    picture_.declare(app, "draw the timeline and the memory of every stage to this SVG file");
    schedule_.declare(app, "write the order of compute actions to this file");
    instructions_.declare(app, "write the instructions of each kind of block to this file");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal, {&trace_, &picture_, &schedule_, &instructions_});
    const session::EstimateRequest request = plan_.request();
    const session::PricedQuestion asked = session::estimate(request);
    output_.lap("priced");
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    const session::SimulationAnswer answer =
        session::simulate(asked, flags_.request(asked.strategy)).value();  // nobody stops it
    output_.lap("simulated");
    output_.write([&](const auto& folder) { return plan_file_text(request, asked, folder); }, terminal);
    write_files(asked, answer, terminal);
    terminal.print(output_.json() ? json_text(asked, answer) : text(asked.plan, answer, terminal));
    output_.print_stats(terminal);
    return ExitCode::done;
  }

 private:
  void write_files(const session::PricedQuestion& asked, const session::SimulationAnswer& answer,
                   Terminal& terminal) const {
    const SimulatedPlan& simulated = answer.simulated;
    const auto write = [&](const OutputFlag& file, const auto& text) {
      file.write(text, terminal, output_.narration());
    };
    write(trace_, [&] { return trace_json_text(trace(simulated.program, simulated.simulation)); });
    write(picture_, [&] {
      return timeline_svg(simulated.program, simulated.simulation, picture_words(asked, simulated.simulation));
    });
    write(schedule_, [&] { return to_schedule_csv(session::order_of(asked, answer.request)); });
    write(instructions_, [&] { return session::instructions_text(asked, simulated); });
  }
  [[nodiscard]] static std::string json_text(const session::PricedQuestion& asked,
                                             const session::SimulationAnswer& answer) {
    return to_json_text(
        to_json(answer.simulated.program, answer.simulated.simulation, session::setting_of(asked, answer)));
  }
  [[nodiscard]] std::string text(const Plan& plan, const session::SimulationAnswer& answer,
                                 const Terminal& terminal) const {
    return question_text(plan) + strategy_text(plan.strategy, plan.training) + placement_text(plan) + trust_text(plan) +
           "\n" + timeline_text(answer.simulated, terminal) + "\n" + step_text(plan, answer, flags_) + "\n" +
           waterfall_text(answer.simulated.simulation.time) + "\n" + peak_text(answer.simulated);
  }

  PlanOptions plan_;
  SimulationFlags flags_;
  OutputOptions output_;
  OutputFlag trace_{"--trace", "trace"};
  OutputFlag picture_{"--picture", "picture"};
  OutputFlag schedule_{"--schedule-csv", "schedule"};
  OutputFlag instructions_{"--instructions", "instructions"};
};

const RegisteredVerb simulate_verb(40, make_verb<SimulateVerb>);

}  // namespace

}  // namespace plumbline
