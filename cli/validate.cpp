// plan validate: measured runs against predictions: how far to trust this program, and where not.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/flag_values.h"
#include "cli/output_flag.h"
#include "cli/validate_plot.h"
#include "cli/validate_report.h"
#include "cli/validate_view.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/measured_runs_json.h"
#include "models/measurement_catalog.h"
#include "planner/io/validation_json.h"

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
    report_.declare(app, "write the tables into this Markdown file");
    app.add_flag("--assumptions", assumptions_, "print what is assumed for unpublished fields, and stop");
    app.add_flag("--json", json_, "print every run as JSON");
  }
  ExitCode run(Terminal& terminal) override {
    if (assumptions_) {
      require_only(*app_, "--assumptions", {});
      terminal.print(rules_text(all_assumptions()));
      return ExitCode::done;
    }
    require_writable({&plot_, &report_}, json_ ? StandardOutput::json : StandardOutput::text, terminal);
    const Validation validation = validated(terminal);
    plot_.write([&] { return validation_svg(validation); }, terminal, Narration::silent);
    report_.write([&] { return validation_markdown(validation, picture()); }, terminal, Narration::silent);
    if (json_)
      terminal.print(to_json_text(to_json(validation)));
    else
      terminal.print(validation_text(validation));
    return ExitCode::done;
  }

 private:
  /// Those of each published source, which come first, and those that hold for all.
  [[nodiscard]] static RunRuleTable all_assumptions() {
    RunRuleTable shared = run_assumptions();
    RunRuleTable all{shared.name, shared.description, {}};
    for (const RunSet& set : published_runs())
      for (RunRule rule : set.rules.assumptions) {
        rule.when.insert(rule.when.begin(), {"rows", {set.name}});
        all.rules.push_back(std::move(rule));
      }
    for (RunRule& rule : shared.rules) all.rules.push_back(std::move(rule));
    return all;
  }
  /// The picture as the report names it: from its own folder.
  [[nodiscard]] std::string picture() const {
    if (!plot_) return "";
    return std::filesystem::path(*plot_.name())
        .lexically_relative(std::filesystem::path(*report_.name()).parent_path())
        .string();
  }
  [[nodiscard]] std::vector<RunSet> sets() const {
    if (files_.empty()) return published_runs();
    std::vector<RunSet> result;
    for (const std::string& file : files_) result.push_back(read_runs_file(file));
    return result;
  }
  /// A name that no run has would answer with silence.
  void require_known(const std::vector<RunSet>& runs) const {
    std::vector<std::string> sources;
    std::vector<std::string> devices;
    for (const RunSet& set : runs) {
      sources.push_back(set.name);
      for (const MeasuredRun& run : set.runs) devices.push_back(run.question.fields.word("hardware"));
    }
    const auto require = [](const char* flag, const std::vector<std::string>& asked, std::vector<std::string> known) {
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
      for (const std::string& name : asked)
        if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); }))
          throw InputError({flag, "no run is of \"" + name + "\"", "a name that runs bear", nearest_text(name, known)});
    };
    require("--source", filter_.sources, std::move(sources));
    require("--device", filter_.devices, std::move(devices));
  }
  [[nodiscard]] Validation validated(Terminal& terminal) const {
    const std::vector<RunSet> runs = sets();
    require_known(runs);
    const RunResolver resolver({run_aliases()}, run_assumptions());
    Validation validation = validate(runs, resolver, filter_, [&](std::size_t done, std::size_t all) {
      terminal.progress("run " + std::to_string(done) + " of " + std::to_string(all));
    });
    terminal.clear_progress();
    return validation;
  }

  const CLI::App* app_ = nullptr;
  std::vector<std::string> files_;
  ValidationFilter filter_;
  OutputFlag plot_{"--plot", "plot"};
  OutputFlag report_{"--report", "report"};
  bool assumptions_ = false;
  bool json_ = false;
};

const RegisteredVerb registered(80, make_verb<ValidateVerb>);

}  // namespace

}  // namespace plumbline
