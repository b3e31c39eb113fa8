// plan estimate: one strategy priced: step time by cause, memory by class, throughput and cost.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/estimate/rank_list.h"
#include "cli/fit/fit_limits_view.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_options.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/verb.h"
#include "core/io/rank_map_json.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_json.h"

namespace plumbline {
namespace {

class EstimateVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"estimate", "one configuration priced: step time by cause, memory, throughput, cost",
            "--model M --machine C --global-batch B [--gpus N] [strategy flags]\nplan estimate --plan plan.json",
            "Prices any legal strategy, fitting or not; the verdict says which. Without a flag of a strategy it prices "
            "the best plan of plan search and says so. With --tokens the whole run's days, GPU-hours, dollars and "
            "energy too.",
            "plan estimate --model llama-3-8b --machine dgx-h100 --gpus 8 --global-batch 64 --tp 2 --tokens 1T"};
  }
  void declare(CLI::App& app) override {
    plan_.declare(app);
    output_.declare(app, "write the plan to this file");
    app.add_flag("--ranks", ranks_, "also host, device and coordinates of each rank")->group("Output");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal);
    const session::EstimateRequest request = plan_.request(session::NoStrategy::best);
    output_.lap("question");
    const session::PricedQuestion asked = session::estimate(request);
    output_.lap("priced");
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    output_.write([&](const auto& folder) { return plan_file_text(request, asked, folder); }, terminal);
    terminal.print(output_.json() ? json_text(asked) : text(asked, terminal));
    output_.print_stats(terminal);
    return ExitCode::done;
  }

 private:
  [[nodiscard]] std::string text(const session::PricedQuestion& asked, const Terminal& terminal) const {
    const Plan& plan = asked.plan;
    std::string all = question_text(plan) + next_stack_text(session::next_stack(asked.question, plan)) +
                      strategy_text(plan.strategy, plan.training) + chosen_text(asked) + placement_text(plan) + "\n" +
                      throughput_text(plan) + "\n" + waterfall_text(plan.prediction.time) + "\n" + memory_text(plan) +
                      "\n" + verdict_text(plan, terminal);
    if (!asked.chosen.empty() && !plan.verdict.fits)
      all += "\n" + remedies_text(session::remedies(asked.question, std::nullopt));
    if (ranks_) all += "\n" + ranks_text(plan);
    return all;
  }

  [[nodiscard]] std::string json_text(const session::PricedQuestion& asked) const {
    return to_json_text(session::with_chosen(ranks_ ? plan_with_ranks_json(asked.plan) : to_json(asked.plan), asked));
  }

  /// In the header, where nobody gave a strategy.
  static std::string chosen_text(const session::PricedQuestion& asked) {
    return asked.chosen.empty() ? "" : wrapped(asked.chosen, terminal_columns(), 2) + "\n";
  }

  PlanOptions plan_;
  OutputOptions output_;
  bool ranks_ = false;
};

const RegisteredVerb estimate_verb(30, make_verb<EstimateVerb>);

}  // namespace

}  // namespace plumbline
