// plan validate: measured runs against predictions: how far to trust this program, and where not.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "cli/flags/flag_values.h"
#include "cli/interruption.h"
#include "cli/output/output_flag.h"
#include "cli/validate/benchmark_plot.h"
#include "cli/validate/validate_plot.h"
#include "cli/validate/validate_report.h"
#include "cli/validate/validate_view.h"
#include "cli/verb.h"
#include "core/io/measured_runs_json.h"
#include "planner/session/validate/validate.h"

namespace plumbline {
namespace {

class ValidateVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"validate", "predictions against published or your own measurements",
            "[--rows FILE...] [--device D,...] [--source S,...] [--plot out.svg]",
            "Predicts step time, peak memory and fit of measured training runs, from their configuration alone, and "
            "prints how far off it was, source by source. Without --rows: the published runs that ship with the "
            "program. Fields that a source does not publish are assumed from one table (--assumptions); a run whose "
            "question is incomplete or cannot be asked is skipped with the reason.",
            "plan validate --source llm_foundry\nplan validate --rows my_runs.json --json"};
  }
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("--rows", files_, "files of measured runs; absent: the published ones")->type_name("FILE");
    app.add_option("--device", filter_.devices, "only runs of these devices")->type_name("NAME")->delimiter(',');
    app.add_option("--source", filter_.sources, "only these run files, by name")->type_name("NAME")->delimiter(',');
    plot_.declare(app, "draw predicted against measured into this SVG file");
    benchmark_plot_.declare(app, "draw the errors of official benchmarks over the number of GPUs into this SVG file");
    report_.declare(app, "write the tables into this Markdown file");
    app.add_flag("--assumptions", assumptions_, "print what is assumed for unpublished fields, and stop");
    app.add_flag("--json", json_, "print every run as JSON");
  }
  ExitCode run(Terminal& terminal) override {
    if (assumptions_) {
      require_only(*app_, "--assumptions", {});
      terminal.print(rules_text(session::assumptions()));
      return ExitCode::done;
    }
    require_writable({&plot_, &benchmark_plot_, &report_}, json_ ? StandardOutput::json : StandardOutput::text,
                     terminal);
    const Interruption interruption(std::nullopt);
    const Validation validation = validated(interruption, terminal);
    if (!validation.complete) {
      terminal.note("interrupted: nothing was written");
      return ExitCode::environment;
    }
    const Validation fitted = fitted_part(validation);
    plot_.write([&] { return validation_svg(fitted.runs.empty() ? validation : fitted); }, terminal, Narration::silent);
    benchmark_plot_.write([&] { return benchmarks_svg(validation); }, terminal, Narration::silent);
    report_.write(
        [&] {
          return validation_markdown(validation, {picture(plot_), picture(benchmark_plot_)});
        },
        terminal, Narration::silent);
    if (!validation.unread.empty()) terminal.note(unread_keys_text(validation.unread));
    if (json_)
      terminal.print(to_json_text(to_json(validation)));
    else
      terminal.print(validation_text(validation));
    return validation.runs.empty() ? ExitCode::no : ExitCode::done;
  }

 private:
  /// The picture as the report names it: from its own folder.
  [[nodiscard]] std::string picture(const OutputFlag& plot) const {
    if (!plot) return "";
    return std::filesystem::path(*plot.name())
        .lexically_relative(std::filesystem::path(*report_.name()).parent_path())
        .string();
  }
  [[nodiscard]] session::ValidationRequest request() const {
    session::ValidationRequest asked{std::nullopt, filter_};
    if (!files_.empty()) asked.runs.emplace();
    for (const std::string& file : files_) asked.runs->push_back(read_runs_file(file));
    return asked;
  }
  [[nodiscard]] Validation validated(const Interruption& interruption, Terminal& terminal) const {
    Task task;
    task.stop = interruption.token();
    task.progress = [&](const TaskProgress& now) {
      terminal.progress("run " + std::to_string(now.done) + " of " + std::to_string(now.total));
    };
    task.end_of_phase = [&](std::string_view) { terminal.clear_progress(); };
    return session::validate(request(), task);
  }

  const CLI::App* app_ = nullptr;
  std::vector<std::string> files_;
  ValidationFilter filter_;
  OutputFlag plot_{"--plot", "plot"};
  OutputFlag benchmark_plot_{"--benchmark-plot", "plot"};
  OutputFlag report_{"--report", "report"};
  bool assumptions_ = false;
  bool json_ = false;
};

const RegisteredVerb validate_verb(80, make_verb<ValidateVerb>);

}  // namespace

}  // namespace plumbline
