// plan search: the best configurations of the stated space, ranked.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <set>

#include "cli/flags/plan_file.h"
#include "cli/flags/question_options.h"
#include "cli/flags/search_flags.h"
#include "cli/interruption.h"
#include "cli/kept_memory.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/search/around_flags.h"
#include "cli/search/around_view.h"
#include "cli/search/search_view.h"
#include "cli/verb.h"
#include "core/quantity/text.h"
#include "planner/session/search/around_json.h"
#include "planner/session/search/search_cases_json.h"
#include "planner/session/search/search_json.h"
#include "planner/session/search/search_words.h"

namespace plumbline {
namespace {

class SearchVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "search", "rank the configurations of a question, best first",
        "--model M --machine C --gpus N --global-batch B [--fix tp=8,pp=4] [--top 10]\n"
        "plan search --around plan.json [--changes 2]",
        "Looks through all products of data, ZeRO, tensor, sequence, pipeline, context and expert parallelism with "
        "their schedules, micro-batches and recompute modes; what is best is exact for that space and this model of "
        "time. Several values of --model, --machine, --gpus, --seq-len, --global-batch or --stack (all: every current "
        "release that trains it), apart by commas: the best plan of each. With --around: what to change of a plan, or "
        "of launch files. Ctrl-C or --time-limit end it with the best so far. Exits with 1 when nothing fits.",
        "plan search --model llama-3-70b --machine dgx-h100 --gpus 64 --seq-len 8192 --global-batch 512 \\\n"
        "  --fix tp=8,zero=0|1 --tokens 15T --out plan.json"};
  }
  void declare(CLI::App& app) override {
    question_.declare(app, Recipes::several);
    search_.declare(app);
    search_.declare_ranking(app);
    around_.declare(app);
    output_.declare(app, "write the best plan to this file");
  }
  ExitCode run(Terminal& terminal) override {
    keep_freed_memory();
    output_.require_writable(terminal);
    const Interruption interruption(search_.time_limit());
    if (around_.is_given()) return run_around(interruption, terminal);
    const std::vector<session::SearchCase> cases = session::search_cases(question_.flags(), options());
    if (!cases.front().values.empty()) return run_cases(cases, interruption, terminal);
    const session::SearchAnswer answer = answered(interruption, terminal);
    if (!answer.plans.empty())
      output_.write([&](const auto& folder) { return plan_file_text(answer.plans.front(), folder); }, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(answer)) : text(answer, terminal));
    output_.print_stats(terminal);
    return answer.plans.empty() && answer.result.complete ? ExitCode::no : ExitCode::done;
  }

 private:
  [[nodiscard]] session::SearchRequest request() const {
    session::SearchRequest request = options();
    request.question = question_.question();
    request.recipes = question_.recipes();
    return request;
  }
  /// All but the question.
  [[nodiscard]] session::SearchRequest options() const {
    session::SearchRequest request;
    search_.apply(request);
    return request;
  }

  /// Several values of the question: the best plan of each. A file is written of the fastest stack alone, since other
  /// values are other questions.
  ExitCode run_cases(const std::vector<session::SearchCase>& cases, const Interruption& interruption,
                     Terminal& terminal) {
    const std::vector<session::CaseValue>& values = cases.front().values;
    const bool are_stacks = values.front().part == "stack";  // the last of the parts
    if (output_.has_file() && !are_stacks)
      throw InputError({"--out", "there is a best plan for each of " + std::to_string(cases.size()) + " questions",
                        "one value of each flag, or --json", ""});
    require_no_front(options());
    const session::CasesAnswer answer = session::search(cases, task(interruption, terminal));
    std::set<std::string> warnings;
    for (const session::CaseAnswer& row : answer.rows)
      if (!row.warning.empty() && warnings.insert(row.warning).second) terminal.note("plan: " + row.warning);
    if (answer.has_any())
      output_.write([&](const auto& folder) { return plan_file_text(*answer.rows.front().plan(), folder); }, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(answer)) : cases_text(answer));
    output_.print_stats(terminal);
    return !answer.has_any() && answer.complete ? ExitCode::no : ExitCode::done;
  }

  static void require_no_front(const session::SearchRequest& request) {
    const char* flag = request.pareto ? "--pareto" : request.all ? "--all" : nullptr;
    if (flag != nullptr)
      throw InputError({flag, "ranks the plans of one question", "one value of each flag of the question", ""});
  }

  static void require_no_ranking_of_all(const session::SearchRequest& request) {
    const char* flag = request.pareto ? "--pareto" : request.all ? "--all" : nullptr;
    if (flag != nullptr)
      throw InputError({flag, "ranks a whole space, and --around a few changes", "one of the two", ""});
  }

  ExitCode run_around(const Interruption& interruption, Terminal& terminal) {
    require_no_ranking_of_all(options());
    const session::AroundRequest request = around_.request(question_, options());
    output_.lap("question");
    if (!request.start.warning.empty()) terminal.note("plan: " + request.start.warning);
    const session::AroundAnswer answer = session::search_around(request, task(interruption, terminal));
    if (!answer.nearby.empty())
      output_.write([&](const auto& folder) { return plan_file_text(answer.nearby.front().plan, folder); }, terminal);
    terminal.print(output_.json() ? to_json_text(to_json(answer))
                                  : around_text(answer, request.search.objective, terminal));
    output_.print_stats(terminal);
    return answer.nearby.empty() && answer.complete ? ExitCode::no : ExitCode::done;
  }

  static void show(const TaskProgress& progress, Terminal& terminal) {
    terminal.progress(present::progress_words(progress));
  }

  [[nodiscard]] session::SearchAnswer answered(const Interruption& interruption, Terminal& terminal) {
    const session::PreparedSearch prepared = session::prepare_search(request());
    output_.lap("question");
    if (!prepared.warning.empty()) terminal.note("plan: " + prepared.warning);
    return session::search(prepared, task(interruption, terminal));
  }

  [[nodiscard]] Task task(const Interruption& interruption, Terminal& terminal) {
    Task task;
    task.stop = interruption.token();
    task.progress = [&](const TaskProgress& progress) { show(progress, terminal); };
    task.end_of_phase = [&](std::string_view phase) {
      terminal.clear_progress();
      output_.lap(std::string(phase));
    };
    return task;
  }

  [[nodiscard]] static std::string text(const session::SearchAnswer& answer, const Terminal& terminal) {
    if (answer.plans.empty()) return nothing_fits_text(answer);
    std::string all = heading_text(answer) + "\n" + ranking_text(answer, terminal);
    if (!answer.result.pareto.empty()) all += "\n" + pareto_text(answer.result.pareto);
    return all;
  }

  QuestionOptions question_;
  SearchFlags search_;
  AroundFlags around_;
  OutputOptions output_;
};

const RegisteredVerb search_verb(10, make_verb<SearchVerb>);

}  // namespace

}  // namespace plumbline
