// plan fit: will this configuration fit, and if not, what is the cheapest change that makes it?
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/output_options.h"
#include "cli/plan_file.h"
#include "cli/plan_options.h"
#include "cli/plan_view.h"
#include "cli/verb.h"
#include "core/io/plan_json.h"
#include "planner/session/fit.h"

namespace plumbline {
namespace {

class FitVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "fit", "will this configuration fit? memory by stage and class, and the cheapest fixes",
        "--model M --machine C --global-batch B [--gpus N] [strategy flags]\nplan fit --plan plan.json",
        "Prints what every pipeline stage holds at its peak, class by class, the stage and class that bind, and the "
        "margin. When it does not fit, lists the cheapest changes that would, with what each costs in step time, "
        "and exits with 1.",
        "plan fit --model llama-3-8b --machine dgx-h100 --gpus 8 --global-batch 64 --tp 2 --zero 1"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    output_.declare(app, "write the plan to this file, whatever the verdict");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal);
    const session::EstimateRequest request = plan_.request();
    const session::PricedQuestion asked = session::estimate(request);
    output_.lap("priced");
    if (!asked.remark.empty()) terminal.remark("plan: " + asked.remark);
    output_.write([&] { return plan_file_text(request, asked); }, terminal);
    if (output_.json()) {
      terminal.print(to_json_text(to_json(asked.plan)));
    } else {
      print(asked, terminal);
    }
    output_.print_stats(terminal);
    return asked.plan.verdict.fits ? ExitCode::done : ExitCode::no;
  }

 private:
  void print(const session::PricedQuestion& asked, Terminal& terminal) {
    const Plan& plan = asked.plan;
    terminal.print(question_text(plan) + strategy_text(plan.strategy, plan.training) + trust_text(plan) + "\n");
    terminal.print(memory_text(plan) + "\n" + verdict_text(plan, terminal));
    if (plan.verdict.fits) return;
    const std::vector<Change> changes = session::fit(asked).changes;
    output_.lap("changes");
    if (changes.empty()) {
      terminal.print("No change of a few steps makes it fit: more GPUs, a smaller model or shorter sequences would.\n");
      return;
    }
    terminal.print("\nThe cheapest changes that make it fit:\n" + changes_text(plan, changes));
  }

  PlanOptions plan_;
  OutputOptions output_;
};

const RegisteredVerb registered(20, make_verb<FitVerb>);

}  // namespace

}  // namespace plumbline
