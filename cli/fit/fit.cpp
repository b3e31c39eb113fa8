// plan fit: will this configuration fit, and if not, what is the cheapest change that makes it?
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/fit/fit_limits_view.h"
#include "cli/flags/flag_values.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_options.h"
#include "cli/interruption.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/verb.h"
#include "planner/session/export/own_settings.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_json.h"
#include "planner/session/search/search_words.h"

namespace plumbline {
namespace {

class FitVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "fit", "will this configuration fit? memory by stage and class, and the cheapest fixes",
        "--model M --machine C --global-batch B [--gpus N] [strategy flags]\nplan fit --plan plan.json\n"
        "plan fit --model M|--family F --machine C [--gpus N] [strategy flags]",
        "Prints what every pipeline stage holds at its peak, class by class, the stage and class that bind, and the "
        "margin. When it does not fit, lists the cheapest changes that would, with what each costs in step time, "
        "and exits with 1. Without --global-batch: the largest micro-batch, the longest sequence, the largest model of "
        "a family, the fewest GPUs that fit, and what keeps more from fitting; exits with 1 when nothing does.",
        "plan fit --model llama-3-8b --machine dgx-h100 --gpus 8 --global-batch 64 --tp 2 --zero 1\n"
        "plan fit --family llama --machine rtx4090-pcie --gpus 4 --lora-rank 16 --seq-len 4096"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    app.add_option("--family", family_,
                   "without --global-batch: the largest of the models whose names begin so (that of --model)")
        ->group("Question")
        ->type_name("NAME");
    app.add_option("--for", framework_,
                   "only changes that this framework can launch, a name of plan search --for (the one whose launch "
                   "files are imported, else that of the stack)")
        ->group("Question")
        ->type_name("FRAMEWORK");
    output_.declare(app, "write the plan to this file, whatever the verdict");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal);
    if (plan_.is_without_batch()) return print_limits(terminal);
    if (family_) throw InputError({"--family", "is asked about without --global-batch and --plan", "one of them", ""});
    const session::EstimateRequest request = plan_.request();
    const session::PricedQuestion asked = session::estimate(request);
    output_.lap("priced");
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    output_.write([&](const auto& folder) { return plan_file_text(request, asked, folder); }, terminal);
    const session::FitAnswer answer = session::fit(asked, {}, options());
    if (!answer.fits) output_.lap("changes");
    terminal.print(output_.json() ? to_json_text(fit_json(asked.plan, answer)) : text(asked, answer, terminal));
    output_.print_stats(terminal);
    return asked.plan.verdict.fits ? ExitCode::done : ExitCode::no;
  }

 private:
  ExitCode print_limits(Terminal& terminal) {
    if (output_.has_file())
      throw InputError({"--out", "there is no one plan to write without --global-batch", "--global-batch as well", ""});
    session::FitLimitsRequest request = plan_.limits_request();
    request.family = family_.value_or("");
    const Interruption interruption(std::nullopt);
    Task task;
    task.stop = interruption.token();
    task.end_of_phase = [&](std::string_view phase) { output_.lap(std::string(phase)); };
    const session::FitLimits limits = session::fit_limits(request, task);
    if (!limits.warning.empty()) terminal.note("plan: " + limits.warning);
    terminal.print(output_.json() ? to_json_text(to_json(limits)) : fit_limits_text(limits));
    output_.print_stats(terminal);
    const auto has_plan = [](const session::FitLimit& limit) { return limit.plan.has_value(); };
    const bool any = std::any_of(limits.limits.begin(), limits.limits.end(), has_plan);
    return any || !limits.complete ? ExitCode::done : ExitCode::no;
  }

  [[nodiscard]] static std::string text(const session::PricedQuestion& asked, const session::FitAnswer& answer,
                                        const Terminal& terminal) {
    const Plan& plan = asked.plan;
    std::string all = question_text(plan) + next_stack_text(session::next_stack(asked.question, plan)) +
                      strategy_text(plan.strategy, plan.training) + placement_text(plan) + trust_text(plan) + "\n" +
                      memory_text(plan) + "\n" + verdict_text(plan, terminal);
    if (answer.fits) return all;
    if (answer.changes.empty()) return all + "\n" + remedies_text(answer.remedies);
    return all + "\nThe cheapest changes that make it fit:\n" + changes_text(plan, answer.changes) +
           wrapped(present::framework_words(answer.framework), terminal_columns(), 2) + "\n" + own_words(asked, answer);
  }

  [[nodiscard]] session::FitOptions options() const {
    session::FitOptions options;
    if (framework_) options.framework = choice_of("--for", *framework_, all_frameworks, framework_from_text);
    if (plan_.import_target()) options.read_from = framework_from_text(*plan_.import_target());
    return options;
  }

  /// The changes as the own settings of a framework that was named, if its files can express them.
  static std::string own_words(const session::PricedQuestion& asked, const session::FitAnswer& answer) {
    if (!answer.framework.is_asked_for) return "";
    const Framework framework = answer.framework.framework;
    std::string text;
    for (const Change& change : answer.changes)
      if (const std::string own = session::own_settings(asked, asked.strategy, change.strategy, framework);
          !own.empty())
        text += "  " + to_text(change.steps) + ":\n    " + own + "\n";
    return text.empty() ? "" : "\nIn " + std::string(record_of(framework).title) + "'s own words:\n" + text;
  }

  PlanOptions plan_;
  OutputOptions output_;
  std::optional<std::string> family_, framework_;
};

const RegisteredVerb fit_verb(20, make_verb<FitVerb>);

}  // namespace

}  // namespace plumbline
