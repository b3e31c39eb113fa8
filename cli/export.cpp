// plan export: a plan as launch files of a training framework.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "cli/flags/plan_file.h"
#include "cli/output/output_flag.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "core/quantity/text.h"
#include "planner/session/export/export.h"

namespace plumbline {
namespace {

class ExportVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "export", "a plan as launch files of a training framework",
        "--plan plan.json --to TARGET [--release R] [--out DIR] [--force] [--strict]",
        "Writes the arguments or configuration of a framework and the scripts that launch it with torchrun, Slurm "
        "and Kubeflow. What the framework cannot launch is said line by line, with the nearest that it can and "
        "what that costs by this program's prediction for that framework's stack; what does not fit is written with "
        "--force alone; with --strict nothing is written then, and the exit code is "
        "1. Without --out the first file is printed. Files of the folder that say something else stay unless --force "
        "is given.",
        "plan export --plan plan.json --to megatron-lm --out launch"};
  }
  void declare(CLI::App& app) override {
    app.add_option("--plan", plan_file_, "a plan file")->group("Question")->type_name("FILE");
    app.add_option("--to", target_, "for which framework: " + target_names())->group("Question")->type_name("TARGET");
    app.add_option("--release", release_, "of the framework, whose keys are written (its newest that is known)")
        ->group("Question")
        ->type_name("RELEASE");
    app.add_flag("--strict", strict_, "refuse what the framework cannot launch as it is")->group("Question");
    app.add_option("--out", folder_, "write the files to this folder")->group("Output")->type_name("DIR");
    declare_force(app);
    app_ = &app;
  }
  void check_flags() const override {
    if (plan_file_.empty()) throw InputError({"--plan", "is missing", "a plan file, written by plan search --out", ""});
    if (target_.empty()) throw InputError({"--to", "is missing", "one of " + target_names(), ""});
  }
  ExitCode run(Terminal& terminal) override {
    const session::PlanRequest request = plan_request(plan_file_);
    const session::PricedQuestion asked = session::estimate(request);
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    const session::ExportAnswer answer =
        session::export_plan(asked, target_, release_, session::launch_recipe(request.written));
    say_substitutions(answer, terminal);
    for (const std::string& sentence : answer.files.unsaid) terminal.note("plan: not said: " + sentence);
    for (const std::string& sentence : answer.files.missing) terminal.note("plan: missing: " + sentence);
    if (strict_ && !is_exact(answer)) return ExitCode::no;
    if (!answer.files.missing.empty() && !is_forced(*app_)) {
      terminal.note("plan: nothing is written, as it would not start; --force writes what there is");
      return ExitCode::no;
    }
    if (const Plan& plan = written_plan(answer); !plan.verdict.fits && !is_forced(*app_)) {
      terminal.note("plan: nothing is written, as it does not fit: " + plan.verdict.reason +
                    "; --force writes it all the same");
      return ExitCode::no;
    }
    if (folder_)
      write_files(answer, terminal);
    else
      terminal.print(answer.files.files.front().text);
    for (const std::string& sentence : answer.files.assumptions) terminal.note("plan: assumed: " + sentence);
    return ExitCode::done;
  }

 private:
  static std::string target_names() {
    std::string all;
    for (const LaunchTarget& target : launch_targets())
      all += (all.empty() ? "" : ", ") + std::string(to_text(target.framework));
    return all;
  }

  void say_substitutions(const session::ExportAnswer& answer, Terminal& terminal) const {
    for (const session::Substitution& one : answer.substitutions)
      terminal.note("plan: " + one.sentence + "; nearest: " + one.change);
    if (!answer.nearest) return;
    const auto line = [](const Plan& one) {
      return to_text(Seconds(one.prediction.step_time_s.expected)) + " a step, " + to_text(one.prediction.peak_memory) +
             " at the peak" + (one.verdict.fits ? "" : ", does not fit");
    };
    terminal.note("plan: with the stack " + answer.nearest->provenance.stack_calibration + " as planned " +
                  line(answer.as_planned) + "; the nearest " + line(*answer.nearest));
    if (!answer.nearest->verdict.fits)
      terminal.note("plan: plan search --for " + target_ + " looks for plans that " + target_ +
                    " launches and that fit");
  }

  /// Files of these names that say something else may have been edited, or be somebody's own.
  void require_untouched(const std::vector<LaunchFile>& files) const {
    std::string others;
    for (const std::string& name : session::other_files(files, *folder_)) others += (others.empty() ? "" : ", ") + name;
    if (!others.empty())
      throw InputError({"--out", "in " + *folder_ + " there are other files of these names: " + others,
                        "another folder, or --force to replace them", ""});
  }

  void write_files(const session::ExportAnswer& answer, Terminal& terminal) const {
    require_writable_folder("--out", *folder_);
    if (!is_forced(*app_)) require_untouched(answer.files.files);
    for (const LaunchFile& file : answer.files.files) {
      const std::filesystem::path path = std::filesystem::path(*folder_) / file.name;
      write_output_file(path, file.text);
      if (file.is_executable)
        std::filesystem::permissions(path, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
      terminal.print(path.string() + "\n");
    }
  }

  std::string plan_file_, target_, release_;
  std::optional<std::string> folder_;
  bool strict_ = false;
  const CLI::App* app_ = nullptr;
};

const RegisteredVerb export_verb(71, make_verb<ExportVerb>);

}  // namespace

}  // namespace plumbline
