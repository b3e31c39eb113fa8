// plan explain: where the time and the memory of a plan go, what binds, and what one change would do.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/plan_file.h"
#include "cli/flags/plan_options.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/verb.h"
#include "planner/present/plan_tables.h"
#include "planner/session/explain/explain.h"

namespace plumbline {
namespace {

/// A text with an empty line before it, or nothing.
std::string section(const std::string& text) { return text.empty() ? "" : "\n" + text; }

std::string assumed_text(const Provenance& provenance, const std::vector<Sensitivity>& assumed) {
  std::string text =
      wrapped("Priced with the calibrations " + provenance.device_calibration + " and " + provenance.stack_calibration +
                  ":",
              terminal_columns(), 2) +
      "\n" +
      wrapped("one standard deviation of the step time is " + per_cent_text(provenance.trust.time_sigma) +
                  ", of the peak memory " + per_cent_text(provenance.trust.memory_sigma) + ".",
              terminal_columns(), 0) +
      "\n";
  for (const std::string& note : provenance.notes) text += "  " + wrapped(note, terminal_columns() - 2, 2) + "\n";
  if (assumed.empty())
    return text +
           wrapped("No number that nobody measured moves this answer by half a per cent.", terminal_columns(), 0) +
           "\n";
  text +=
      wrapped("Numbers that nobody measured, and what one standard deviation more would do:", terminal_columns(), 0) +
      "\n";
  return text + plumbline::text(present::assumed_table(assumed));
}

std::string comparison_text(const Plan& a, const Plan& b) {
  present::Table table = present::difference_table(a, b);
  table.columns.front().title.clear();  // what is in the rows says it
  return text(table);
}

class ExplainVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "explain", "where a plan's time and memory go, what binds, what one change would do",
        "--plan plan.json [--against other.json]",
        "Prices the plan anew, then shows the step as a waterfall, the memory by class, the bottleneck, one step "
        "along every axis, and the numbers behind the answer that nobody measured. With --against two plans side by "
        "side.",
        "plan explain --plan plan.json --against other.json"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    app.add_option("--against", against_, "another plan file to compare with")->group("Question")->type_name("FILE");
    output_.declare(app, "write the plan, priced anew, to this file");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal);
    const session::EstimateRequest request = plan_.request();
    const session::PricedQuestion asked = session::estimate(request);
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    std::optional<Plan> other;
    if (against_) other = priced_again(*against_, terminal);
    output_.lap("priced");
    Task task;
    task.end_of_phase = [&](std::string_view phase) { output_.lap(std::string(phase)); };
    const session::Explanation explanation = session::explain(asked, other, task);
    output_.write([&](const auto& folder) { return plan_file_text(request, asked, folder); }, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(explanation)) : text(explanation, terminal));
    output_.print_stats(terminal);
    return ExitCode::done;
  }

 private:
  [[nodiscard]] static Plan priced_again(const std::string& file, Terminal& terminal) {
    const session::PricedQuestion other = session::estimate(plan_request(file));
    if (!other.warning.empty()) terminal.note("plan: of " + file + ": " + other.warning);
    return other.plan;
  }
  [[nodiscard]] static std::string text(const session::Explanation& explanation, const Terminal& terminal) {
    const Plan& plan = explanation.plan;
    const std::string head = question_text(plan) + strategy_text(plan.strategy, plan.training) + placement_text(plan);
    if (explanation.against) return head + trust_text(plan) + "\n" + comparison_text(plan, *explanation.against);
    return head + "\n" + throughput_text(plan) + "\n" + waterfall_text(plan.prediction.time) + "\n" +
           wrapped("Bottleneck: " + explanation.bottleneck + ".", terminal_columns(), 2) + "\n\n" + memory_text(plan) +
           section(replay_text(plan)) + "\n" + verdict_text(plan, terminal) + "\nOne step along each axis:\n" +
           changes_text(plan, explanation.changes) + "\n" + assumed_text(plan.provenance, explanation.assumed);
  }

  PlanOptions plan_;
  OutputOptions output_;
  std::optional<std::string> against_;
};

const RegisteredVerb explain_verb(50, make_verb<ExplainVerb>);

}  // namespace

}  // namespace plumbline
