// plan explain: where the time and the memory of a plan go, what binds, and what one change would do.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>

#include "cli/output_options.h"
#include "cli/plan_options.h"
#include "cli/plan_view.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "core/io/strategy_json.h"
#include "core/quantity/text.h"
#include "planner/io/explanation_json.h"

namespace plumbline {
namespace {

std::string effect_text(double change) {
  constexpr double shown_from = 0.0005;
  if (std::fabs(change) < shown_from) return "";
  return (change > 0 ? "+" : "") + fixed(100 * change, 1) + " %";
}

/// A text with an empty line before it, or nothing.
std::string section(const std::string& text) { return text.empty() ? "" : "\n" + text; }

std::string assumed_text(const Provenance& provenance, const std::vector<Sensitivity>& assumed) {
  std::string text = wrapped("Priced with the calibrations " + provenance.device_calibration + " and " +
                                 provenance.stack_calibration + ":",
                             terminal_columns, 2) +
                     "\none standard deviation of the step time is " + per_cent_text(provenance.trust.time_sigma) +
                     ", of the peak memory " + per_cent_text(provenance.trust.memory_sigma) + ".\n";
  for (const std::string& note : provenance.notes) text += "  " + wrapped(note, terminal_columns - 2, 2) + "\n";
  if (assumed.empty()) return text + "No number that nobody measured moves this answer by half a per cent.\n";
  text += "Numbers that nobody measured, and what one standard deviation more would do:\n";
  Table table({{"number", Align::left}, {"value"}, {"+1 sd"}, {"step"}, {"memory"}, {"from", Align::left}});
  for (const Sensitivity& s : assumed)
    table.add_row({s.number.name, s.number.value, effect_text(s.relative_sigma), effect_text(s.step_time),
                   effect_text(s.peak_memory), s.number.source});
  return text + table.text(terminal_columns);
}

/// Two plans side by side: what they choose, what it costs, where the time and the memory go.
std::string comparison_text(const Plan& a, const Plan& b) {
  Table table({{"", Align::left}, {"this plan", Align::right}, {"the other", Align::right}, {"difference"}});
  const auto text_row = [&](const std::string& name, const std::string& one, const std::string& other) {
    if (one != other) table.add_row({name, one, other, ""});
  };
  const auto number_row = [&](const std::string& name, double one, double other, int digits) {
    if (one != 0 || other != 0)
      table.add_row({name, fixed(one, digits), fixed(other, digits), other == 0 ? "" : difference_text(one, other)});
  };
  const Json::Object one = *to_json(a.strategy, a.training).if_object();
  const Json other = to_json(b.strategy, b.training);
  const auto shown = [](const Json& value) {
    std::string text = value.if_string() != nullptr ? *value.if_string() : to_json_text(value, -1);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  };
  text_row("model", a.model.name, b.model.name);
  text_row("machine", a.machine.name, b.machine.name);
  text_row("GPUs", std::to_string(a.machine.devices), std::to_string(b.machine.devices));
  for (const auto& [key, value] : one) text_row(words_of(key), shown(value), shown(*other.find(key)));
  number_row("step s", a.prediction.step_time_s.expected, b.prediction.step_time_s.expected, 3);
  for (std::size_t i = 0; i < time_cause_count; ++i)
    number_row("  " + words_of(to_text(static_cast<TimeCause>(i))), to_seconds(a.prediction.time.by_cause[i]).value(),
               to_seconds(b.prediction.time.by_cause[i]).value(), 3);
  number_row("tokens/s/GPU", a.prediction.tokens_per_second_per_gpu, b.prediction.tokens_per_second_per_gpu, 1);
  number_row("MFU %", 100 * a.prediction.mfu, 100 * b.prediction.mfu, 1);
  constexpr double gib = 1024. * 1024. * 1024.;
  number_row("peak GiB", static_cast<double>(a.prediction.peak_memory.value()) / gib,
             static_cast<double>(b.prediction.peak_memory.value()) / gib, 2);
  const auto heaviest = [](const Plan& plan) {
    return plan.prediction.stage_memory[static_cast<std::size_t>(plan.prediction.heaviest_stage)];
  };
  for (std::size_t i = 0; i < memory_class_count; ++i)
    number_row("  " + words_of(to_text(static_cast<MemoryClass>(i))),
               static_cast<double>(heaviest(a).by_class[i].value()) / gib,
               static_cast<double>(heaviest(b).by_class[i].value()) / gib, 2);
  text_row("fits", a.verdict.fits ? "yes" : "no", b.verdict.fits ? "yes" : "no");
  return table.text(terminal_columns);
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
    const session::PricedQuestion asked = session::estimate(plan_.request());
    if (!asked.remark.empty()) terminal.remark("plan: " + asked.remark);
    std::optional<Plan> other;
    if (against_) other = priced_again(*against_, terminal);
    output_.lap("priced");
    Task task;
    task.end_of_phase = [&](std::string_view phase) { output_.lap(std::string(phase)); };
    const session::Explanation explanation = session::explain(asked, other, task);
    output_.write(explanation.plan, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(explanation)) : text(explanation, terminal));
    output_.print_stats(terminal);
    return ExitCode::done;
  }

 private:
  [[nodiscard]] static Plan priced_again(const std::string& file, Terminal& terminal) {
    const session::PricedQuestion other = session::estimate(plan_request(file));
    if (!other.remark.empty()) terminal.remark("plan: of " + file + ": " + other.remark);
    return other.plan;
  }
  [[nodiscard]] static std::string text(const session::Explanation& explanation, const Terminal& terminal) {
    const Plan& plan = explanation.plan;
    const std::string head = question_text(plan) + strategy_text(plan.strategy, plan.training) + "\n";
    if (explanation.against) return head + comparison_text(plan, *explanation.against);
    return head + throughput_text(plan) + "\n" + waterfall_text(plan.prediction) + "\n" +
           wrapped("Bottleneck: " + explanation.bottleneck + ".", terminal_columns, 2) + "\n\n" + memory_text(plan) +
           section(replay_text(plan)) + "\n" + verdict_text(plan, terminal) + "\nOne step along each axis:\n" +
           changes_text(plan, explanation.changes) + "\n" + assumed_text(plan.provenance, explanation.assumed);
  }

  PlanOptions plan_;
  OutputOptions output_;
  std::optional<std::string> against_;
};

}  // namespace

std::unique_ptr<Verb> make_explain_verb() { return std::make_unique<ExplainVerb>(); }

}  // namespace plumbline
