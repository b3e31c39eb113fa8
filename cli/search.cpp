// plan search: the best configurations of the stated space, ranked.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flag_values.h"
#include "cli/interruption.h"
#include "cli/output_options.h"
#include "cli/plan_file.h"
#include "cli/plan_view.h"
#include "cli/question_options.h"
#include "cli/search_flags.h"
#include "cli/search_view.h"
#include "cli/verb.h"
#include "core/quantity/text.h"
#include "planner/io/search_json.h"

namespace plumbline {
namespace {

class SearchVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "search", "rank the configurations of a question, best first",
        "--model M --machine C --gpus N --global-batch B [--fix tp=8,pp=4] [--top 10]",
        "Looks through all products of data, ZeRO, tensor, sequence, pipeline, context and expert parallelism with "
        "their schedules, micro-batches and recompute modes; what is best is exact for that space and this model of "
        "time. Ctrl-C or --time-limit end it with the best so far. Exits with 1 when nothing fits.",
        "plan search --model llama-3-70b --machine dgx-h100 --gpus 64 --seq-len 8192 --global-batch 512 \\\n"
        "  --fix tp=8,zero=0|1 --tokens 15T --out plan.json"};
  }
  void declare(CLI::App& app) override {
    question_.declare(app, Recipes::several);
    search_.declare(app);
    declare_ranking(app);
    output_.declare(app, "write the best plan to this file");
  }
  ExitCode run(Terminal& terminal) override {
    output_.require_writable(terminal);
    const Interruption interruption(search_.time_limit());
    const session::SearchAnswer answer = answered(interruption, terminal);
    if (!answer.plans.empty()) output_.write([&] { return plan_file_text(answer.plans.front()); }, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(answer)) : text(answer, terminal));
    output_.print_stats(terminal);
    return answer.plans.empty() && answer.result.complete ? ExitCode::no : ExitCode::done;
  }

 private:
  void declare_ranking(CLI::App& app) {
    const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
      app.add_option(flag, value, text)->group("Search")->type_name(type);
    };
    option("--objective", objective_, alternatives(names_of(all_objectives)).c_str(), "what is best (time)");
    option("--top", top_, "N", "how many plans (10)");
    app.add_flag("--all", all_, "also plans that are like a better one, each in a row of its own")->group("Search");
    app.add_flag("--pareto", pareto_, "also the front of step time and peak memory")->group("Search");
  }

  [[nodiscard]] session::SearchRequest request() const {
    session::SearchRequest request;
    if (objective_) request.objective = choice_of("--objective", *objective_, all_objectives, objective_from_text);
    if (top_) request.top = static_cast<std::size_t>(whole_number("--top", *top_, 1, session::most_plans));
    request.pareto = pareto_;
    request.all = all_;
    request.question = question_.question();
    request.recipes = question_.recipes();
    search_.apply(request);
    return request;
  }

  static void show(const TaskProgress& progress, Terminal& terminal) {
    std::string line = std::string(progress.phase) + " " + grouped(progress.done) + " of " + grouped(progress.total);
    if (progress.best_step_time_s > 0) line += ", best step " + to_text(Seconds(progress.best_step_time_s));
    terminal.progress(line);
  }

  [[nodiscard]] session::SearchAnswer answered(const Interruption& interruption, Terminal& terminal) {
    const session::PreparedSearch prepared = session::prepare_search(request());
    output_.lap("question");
    if (!prepared.remark.empty()) terminal.remark("plan: " + prepared.remark);
    Task task;
    task.stop = interruption.token();
    task.progress = [&](const TaskProgress& progress) { show(progress, terminal); };
    task.end_of_phase = [&](std::string_view phase) {
      terminal.clear_progress();
      output_.lap(std::string(phase));
    };
    return session::search(prepared, task);
  }

  [[nodiscard]] static std::string text(const session::SearchAnswer& answer, const Terminal& terminal) {
    if (answer.plans.empty()) return nothing_fits_text(answer);
    std::string all = heading_text(answer) + "\n" + ranking_text(answer, terminal);
    if (!answer.result.pareto.empty()) all += "\n" + pareto_text(answer.result.pareto);
    return all;
  }

  QuestionOptions question_;
  SearchFlags search_;
  OutputOptions output_;
  std::optional<std::string> objective_, top_;
  bool pareto_ = false;
  bool all_ = false;
};

const RegisteredVerb registered(10, make_verb<SearchVerb>);

}  // namespace

}  // namespace plumbline
