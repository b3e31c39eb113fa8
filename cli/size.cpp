// plan size: how many GPUs does a run take, by a deadline or within a budget?
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/declare_options.h"
#include "cli/interruption.h"
#include "cli/kept_memory.h"
#include "cli/output_options.h"
#include "cli/plan_file.h"
#include "cli/question_options.h"
#include "cli/search_flags.h"
#include "cli/size_plot.h"
#include "cli/size_view.h"
#include "cli/verb.h"
#include "core/quantity/text.h"
#include "planner/io/size_json.h"
#include "planner/session/size_flags.h"

namespace plumbline {
namespace {

class SizeVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"size", "how many GPUs does a run take? days, dollars, energy, CO2, and how it scales",
            "--model M --machine C --global-batch B --tokens T [--days 30] [--budget 250K]",
            "Searches the best plan of each number of GPUs and bills it for the whole run; says the least GPUs within "
            "the limits, strong scaling (a fixed batch) and weak scaling (a batch that grows with the GPUs), as a "
            "table and a picture. Exits with 1 when no number of GPUs is within the limits, or nothing fits.",
            "plan size --model llama-3-8b --machine dgx-h100 --seq-len 8192 --global-batch 512 --tokens 1T \\\n"
            "  --days 30 --gpus 64,128,256,512 --picture scaling.svg"};
  }
  void declare(CLI::App& app) override {
    question_.declare(app, Recipes::several, DeviceCounts::several);
    declare_options(app, session::size_options(), flags_, "Run");
    search_.declare(app);
    output_.declare(app, "write the plan of the least GPUs, else that of the nearest, to this file");
    picture_.declare(app, "write throughput, days and dollars against GPUs as SVG to this file");
  }
  ExitCode run(Terminal& terminal) override {
    keep_freed_memory();
    output_.require_writable(terminal, {&picture_});
    const Interruption interruption(search_.time_limit());
    const session::SizeAnswer answer = answered(interruption, terminal);
    if (const Plan* plan = chosen(answer))
      output_.write([&](const auto& folder) { return plan_file_text(*plan, folder); }, terminal);
    picture_.write([&] { return scaling_svg(answer); }, terminal, output_.narration());
    terminal.print(output_.json() ? to_json_text(to_json(answer)) : size_text(answer));
    output_.print_stats(terminal);
    const bool is_answered = answer.request.limits.any() ? answer.least.has_value() : chosen(answer) != nullptr;
    return is_answered || !answer.complete ? ExitCode::done : ExitCode::no;
  }

 private:
  [[nodiscard]] session::SizeRequest request() const {
    session::SizeRequest request;
    request.search.question = question_.question();
    request.search.recipes = question_.recipes();
    search_.apply(request.search);
    request.devices = question_.device_counts();
    flags_.apply(request);
    return request;
  }

  [[nodiscard]] session::SizeAnswer answered(const Interruption& interruption, Terminal& terminal) {
    const session::PreparedSize prepared = session::prepare_size(request());
    output_.lap("question");
    if (!prepared.remark.empty()) terminal.remark("plan: " + prepared.remark);
    Task task;
    task.stop = interruption.token();
    task.progress = [&](const TaskProgress& progress) {
      terminal.progress(std::string(progress.phase) + " " + grouped(progress.done) + " of " + grouped(progress.total));
    };
    task.end_of_phase = [&](std::string_view phase) {
      terminal.clear_progress();
      output_.lap(std::string(phase));
    };
    return session::size(prepared, task);
  }

  [[nodiscard]] static const Plan* chosen(const session::SizeAnswer& answer) {
    for (const auto& place : {answer.least, answer.nearest})
      if (place) return &*answer.rows[*place].plan;
    for (const session::SizeRow& row : answer.rows)
      if (row.plan) return &*row.plan;
    return nullptr;
  }

  QuestionOptions question_;
  SearchFlags search_;
  OutputOptions output_;
  OutputFlag picture_{"--picture", "picture"};
  session::SizeFlags flags_;
};

const RegisteredVerb size_verb(35, make_verb<SizeVerb>);

}  // namespace

}  // namespace plumbline
