// plan calibrate: constants from measured runs, and how well they predict runs that they never saw.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/calibrate/calibrate_collectives.h"
#include "cli/calibrate/calibrate_kernels.h"
#include "cli/calibrate/calibrate_view.h"
#include "cli/flags/flag_values.h"
#include "cli/interruption.h"
#include "cli/output/output_flag.h"
#include "cli/validate/validate_view.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/measured_runs_json.h"
#include "core/io/output_file.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"
#include "models/machine_catalog.h"
#include "models/measurement_catalog.h"
#include "planner/session/calibrate/calibrate.h"
#include "planner/session/calibrate/calibrated_json.h"
#include "planner/session/calibrate/cross_validation_json.h"

namespace plumbline {
namespace {

constexpr int most_folds = 1000;  // more than there are models among the published runs

class CalibrateVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "calibrate", "fit a software stack to your own measured runs",
        "--rows FILE... [--device D] [--stack S | --like S] --out C.json",
        "Moves the numbers of a software stack as far as your measured steps can tell, from what ships as a prior; a "
        "handful of runs that differ is enough. Prints how far off it was before, after, and on runs that it had "
        "not seen, and writes a file for --stack. --kernels fits a device to a table of its kernels instead, "
        "--collectives a machine's links to outputs of nccl-tests. "
        "docs/calibrating.md goes through all three step by step. --all and --cross-validate fit and test the "
        "calibrations "
        "that ship.",
        "plan calibrate --rows my_runs.json --stack torchtitan-2024.12 --out mine.json\n"
        "plan search --model llama-3-8b --machine dgx-h100 --gpus 64 --global-batch 512 --stack mine.json"};
  }
  void declare(CLI::App& app) override {
    app_ = &app;
    const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
      app.add_option(flag, value, text)->type_name(type);
    };
    app.add_option("--rows", files_, "files of measured runs (docs/rows.md)")->type_name("FILE");
    option("--device", device_, "NAME", "only runs of this device");
    option("--stack", stack_, "STACK", "what they ran on, where runs do not say; its numbers are where the fit starts");
    option("--like", like_, "STACK", "they ran on another stack, most like this one");
    option("--name", name_, "NAME", "of the new stack (own)");
    out_.declare(app, "write the stack, or with --collectives the machine, to this file; with --all: a folder for all");
    app.add_flag("--json", json_, "JSON on standard output, and nothing else there");
    kernels_.declare(app);
    collectives_.declare(app);
    app.add_flag("--all", all_, "fit the calibrations that ship to the published runs and --rows anew")
        ->group("Maintenance");
    app.add_flag("--cross-validate", cross_validate_,
                 "predict published runs by fits that never saw their model (JSON)")
        ->group("Maintenance");
    app.add_flag("--by-question", by_question_, "with --cross-validate --rows: test these runs question by question")
        ->group("Maintenance");
    app.add_option("--folds", folds_, "how many fits test all runs (6)")->group("Maintenance")->type_name("N");
    app.add_option("--fold", fold_, "with --cross-validate: only this one of them, from 1")
        ->group("Maintenance")
        ->type_name("N");
  }
  ExitCode run(Terminal& terminal) override {
    const Interruption interruption(std::nullopt);
    if (!all_ && !kernels_.asked())
      require_writable({&out_}, json_ ? StandardOutput::json : StandardOutput::text, terminal);
    fit_.stop = interruption.token();
    say_what_names_are(terminal);
    if (collectives_.asked()) {
      require_only(*app_, "--collectives", {"--machine", "--out", "--json"});
      collectives_.run({kernels_.machine(), out_, json_}, terminal);
      return ExitCode::done;
    }
    if (kernels_.asked()) {
      kernels_.require_only_its_flags(*app_);
      kernels_.run({out_, stack_, json_}, interruption.token(), terminal);
      return ExitCode::done;
    }
    if (all_ && cross_validate_)
      throw InputError({"--all", "cannot be combined with --cross-validate", "one of them", ""});
    if (cross_validate_) return cross_validated(terminal);
    if (all_) return shipped(terminal);
    return own(terminal);
  }

 private:
  void say_what_names_are(Terminal& terminal) const {
    const auto say = [&](const std::string& warning) {
      if (!warning.empty()) terminal.note("plan: " + warning);
    };
    for (const std::optional<std::string>& stack : {stack_, like_})
      if (stack) say(CalibrationSet::shipped().stack_name_warning(*stack));
    if (kernels_.machine()) say(machine_name_warning(*kernels_.machine()));
  }
  [[nodiscard]] std::vector<RunSet> sets() const {
    std::vector<RunSet> result;
    for (const std::string& file : files_) result.push_back(read_runs_file(file));
    return result;
  }

  /// The published ones and those that were given.
  [[nodiscard]] std::vector<RunSet> all_sets() const {
    std::vector<RunSet> measured = published_runs();
    const std::vector<RunSet> added = sets();
    measured.insert(measured.end(), added.begin(), added.end());
    return measured;
  }

  ExitCode own(Terminal& terminal) {
    if (files_.empty()) throw InputError({"--rows", "is missing", "files of measured runs (docs/rows.md)", ""});
    require_only(*app_, "--rows", {"--device", "--stack", "--like", "--name", "--out", "--json"});
    if (!out_ && !json_) throw InputError({"--out", "is missing", "a file for the calibrated stack", ""});
    const session::PreparedCalibration prepared = session::prepare_calibration(request());
    for (const RunSet& set : prepared.request.runs)
      if (!set.unread.empty()) terminal.note(unread_keys_text(set.unread));
    for (const SkippedRun& run : prepared.skipped) terminal.note("skipped " + run.id + ": " + run.reason);
    const session::CalibrationAnswer answer = session::calibrate(prepared, task(terminal));
    if (!answer.complete) return interrupted(terminal);
    const OwnCalibration& found = answer.found;
    out_.write([&] { return to_json_text(software_stack_json(found.stack)); }, terminal, Narration::silent);
    terminal.print(json_ ? to_json_text(to_json(found, answer.runs)) : calibration_text(found, answer.runs));
    if (out_ && !json_ && !out_.is_standard_output())
      terminal.note("stack written to " + *out_.name() + ": use it with --stack " + *out_.name());
    return ExitCode::done;
  }

  [[nodiscard]] session::CalibrationRequest request() const {
    return {sets(), device_, stack_, like_, name_.value_or("own")};
  }
  [[nodiscard]] Task task(Terminal& terminal) const {
    Task task;
    task.stop = fit_.stop;
    task.progress = [&](const TaskProgress& now) { terminal.progress("fit, iteration " + std::to_string(now.done)); };
    task.end_of_phase = [&](std::string_view) { terminal.clear_progress(); };
    return task;
  }
  static ExitCode interrupted(Terminal& terminal) {
    terminal.note("interrupted: nothing was written");
    return ExitCode::environment;
  }

  [[nodiscard]] static RunResolver resolver() { return RunResolver({run_aliases()}, run_assumptions()); }

  void show_progress(Terminal& terminal) {
    fit_.progress = [this, &terminal](int iteration, double) {
      terminal.progress(phase_ + ", iteration " + std::to_string(iteration));
    };
  }

  [[nodiscard]] RereadRuns reread_all() const {
    const std::vector<RunSet> measured = all_sets();
    return reread(fit_runs(measured, resolver()).runs, measured, run_aliases(), run_assumptions());
  }

  ExitCode shipped(Terminal& terminal) {
    require_only(*app_, "--all", {"--rows", "--out"});
    if (!out_) throw InputError({"--out", "is missing", "a folder for the calibrations", ""});
    require_writable_folder(out_.flag(), *out_.name());
    show_progress(terminal);
    const RereadRuns read = reread_all();
    const PriorTable priors = shipped_priors();
    const ParameterSpace space(CalibrationSet::shipped(), priors, read.runs);
    phase_ = "all runs";
    const Trained trained(space, read.runs, all_own(read), fit_);
    terminal.clear_progress();
    if (fit_.stop.stop_requested()) return interrupted(terminal);
    const std::string source = "fit over " + std::to_string(trained.fitted().size()) + " runs with priors";
    write_files(fitted_set(CalibrationSet::shipped(), space, trained, read.runs, priors, source), *out_.name());
    terminal.note("calibrations written to " + *out_.name());
    return ExitCode::done;
  }

  ExitCode cross_validated(Terminal& terminal) {
    require_only(*app_, "--cross-validate", {"--rows", "--by-question", "--folds", "--fold", "--json"});
    if (by_question_ && files_.empty())
      throw InputError({"--by-question", "is given without --rows", "both, or neither", ""});
    if (folds_ < 2 || folds_ > most_folds)
      throw InputError(
          {"--folds", std::to_string(folds_) + " is out of range", "2 to " + std::to_string(most_folds), ""});
    if (fold_ < 0 || fold_ > folds_)
      throw InputError({"--fold", std::to_string(fold_) + " is none", "1 to " + std::to_string(folds_), ""});
    show_progress(terminal);
    CrossValidationAnswer answer;
    CrossValidationOptions options;
    options.folds = static_cast<std::size_t>(folds_);
    options.only_fold = static_cast<std::size_t>(fold_);
    options.fit = fit_;
    options.progress = [this](const std::string& phase) { phase_ = phase; };
    test(answer, options);
    answer.complete = !fit_.stop.stop_requested();
    terminal.clear_progress();
    terminal.print(to_json_text(to_json(answer)));
    return ExitCode::done;
  }

  void test(CrossValidationAnswer& answer, CrossValidationOptions& options) {
    const std::vector<RunSet> measured = all_sets();
    FitRuns read = fit_runs(measured, resolver());
    answer.skipped = std::move(read.skipped);
    if (by_question_) test_only(sets(), read.runs, options);
    RereadRuns runs = reread(std::move(read.runs), measured, run_aliases(), run_assumptions());
    options.first_runs = runs.own;
    const PriorTable priors = shipped_priors();
    const CalibrationSet& set = CalibrationSet::shipped();
    const ParameterSpace space(set, priors, runs.runs);
    if (fold_ == 0) fit_all(answer, runs, space);
    answer.tested = cross_validate(runs.runs, set, space, priors, options);
    if (!by_question_ && fold_ == 0) {
      answer.stacks = leave_stacks_out(runs.runs, set, space, priors, options);
      answer.sources = leave_sources_out(runs, set, space, priors, options);
    }
    answer.questions = rank_questions(runs.runs, answer.tested);
    answer.runs = std::move(runs.runs);
  }

  void fit_all(CrossValidationAnswer& answer, const RereadRuns& runs, const ParameterSpace& space) {
    phase_ = "all runs";
    const Trained trained(space, runs.runs, all_own(runs), fit_);
    answer.numbers = fitted_numbers(space, trained);
    for (std::size_t i = 0; i < runs.own; ++i)
      answer.fitted_s.push_back(std::exp(space.log_step(runs.runs[i], trained.result().unknowns)));
  }

  /// Runs of `sets` are tested by the question that they answer, all others only trained on.
  static void test_only(const std::vector<RunSet>& sets, std::vector<FitRun>& runs, CrossValidationOptions& options) {
    for (const RunSet& set : sets) options.tested_sources.push_back(set.name);
    for (FitRun& run : runs)
      if (std::find(options.tested_sources.begin(), options.tested_sources.end(), run.source) !=
          options.tested_sources.end())
        run.group = run.source + "|" + run.question;
  }

  const CLI::App* app_ = nullptr;
  KernelCalibration kernels_;
  CollectiveCalibration collectives_;
  std::vector<std::string> files_;
  std::optional<std::string> device_, stack_, like_, name_;
  OutputFlag out_{"--out", "stack"};
  bool json_ = false;
  bool all_ = false;
  bool cross_validate_ = false;
  bool by_question_ = false;
  int folds_ = 6;
  int fold_ = 0;
  FitOptions fit_;
  std::string phase_;
};

const RegisteredVerb calibrate_verb(90, make_verb<CalibrateVerb>);

}  // namespace

}  // namespace plumbline
