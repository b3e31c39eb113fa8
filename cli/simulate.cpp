// plan simulate: one strategy lowered to a program and played: timeline, trace, where the time goes.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/output_options.h"
#include "cli/plan_options.h"
#include "cli/plan_view.h"
#include "cli/timeline_view.h"
#include "cli/verb.h"
#include "core/io/schedule_csv.h"
#include "core/io/simulation_json.h"
#include "core/io/trace_json.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// Where the peak stands and what is alive then.
std::string peak_text(const PlayedPlan& played) {
  const auto rank = static_cast<std::size_t>(played.simulation.heaviest_rank);
  const MemoryPeak& peak = played.simulation.memory[rank];
  std::string text =
      "peak memory  " + gib_text(played.simulation.peak_memory(), 2) + " GiB on stage " + std::to_string(rank);
  if (peak.action >= 0)
    text += " at " + to_text(played.program.ranks[rank].actions[static_cast<std::size_t>(peak.action)]);
  text += "\n";
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (peak.memory.by_class[c].value() > 0)
      text +=
          "  " + gib_text(peak.memory.by_class[c], 2) + " GiB " + words_of(to_text(static_cast<MemoryClass>(c))) + "\n";
  return text;
}

std::string step_text(const Plan& plan, const Simulation& s) {
  const double closed = plan.prediction.step_time_s.expected;
  const double played = to_seconds(s.step()).value();
  return "simulated step " + to_text(Seconds(played)) + ", " + std::to_string(s.actions) + " actions; closed form " +
         to_text(Seconds(closed)) + " (" + difference_text(played, closed) + ")\n";
}

class SimulateVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"simulate", "one configuration played action by action: timeline, trace, memory curve",
            "--plan plan.json [--trace t.json] [--schedule-csv s.csv]",
            "Lowers the strategy to the actions of every pipeline rank and plays them. The trace opens in Perfetto "
            "(ui.perfetto.dev) or chrome://tracing; the schedule is PyTorch's compute-only CSV.",
            "plan simulate --plan plan.json --trace trace.json"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    output_.declare(app, "write the plan to this file");
    app.add_option("--trace", trace_, "write a Chrome trace to this file")->group("Output")->type_name("FILE");
    app.add_option("--schedule-csv", schedule_, "write the order of compute actions to this file")
        ->group("Output")
        ->type_name("FILE");
    app.add_flag("--by-block", by_block_, "actions of single blocks in place of whole pipeline chunks")
        ->group("Output");
  }
  ExitCode run(Terminal& terminal) override {
    const PricedQuestion asked = plan_.asked();
    output_.lap("priced");
    if (!asked.remark.empty()) terminal.remark("plan: " + asked.remark);
    const PlayedPlan result =
        played(asked.question, asked.strategy, by_block_ ? Granularity::block : Granularity::chunk);
    output_.lap("simulated");
    output_.write(asked.plan, terminal);
    write_files(asked.strategy, result, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(result.simulation)) : text(asked.plan, result, terminal));
    output_.print_stats(terminal);
    return ExitCode::done;
  }

 private:
  void write_files(const Strategy& s, const PlayedPlan& result, Terminal& terminal) const {
    const auto write = [&](const std::optional<std::string>& file, const char* what, const auto& content) {
      if (!file) return;
      write_file_atomically(*file, content());
      if (!output_.json()) terminal.remark(std::string(what) + " written to " + *file);
    };
    write(trace_, "trace", [&] { return trace_json_text(trace(result.program, result.simulation)); });
    write(schedule_, "schedule", [&] { return to_schedule_csv(compute_schedule(s.schedule, result.program.shape)); });
  }
  [[nodiscard]] static std::string text(const Plan& plan, const PlayedPlan& result, const Terminal& terminal) {
    Prediction played = plan.prediction;
    played.time = result.simulation.time;
    return question_text(plan) + strategy_text(plan.strategy, plan.training) + "\n" + timeline_text(result, terminal) +
           "\n" + step_text(plan, result.simulation) + "\n" + waterfall_text(played) + "\n" + peak_text(result);
  }

  PlanOptions plan_;
  OutputOptions output_;
  std::optional<std::string> trace_;
  std::optional<std::string> schedule_;
  bool by_block_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_simulate_verb() { return std::make_unique<SimulateVerb>(); }

}  // namespace plumbline
