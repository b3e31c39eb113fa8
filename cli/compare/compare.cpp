// plan compare: what a plan predicts against what its run measured.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/compare/compare_view.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_options.h"
#include "cli/flags/track_flag.h"
#include "cli/output/plan_view.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "planner/session/compare/compare.h"

namespace plumbline {
namespace {

class CompareVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "compare", "predicted against measured: step time, actions, memory and bytes on the wire",
        "--plan plan.json --measured measured.json [--json]",
        "Lowers and simulates the plan again and holds a record of its run (plan run --record) against it: the step "
        "and "
        "every kind of action, peak bytes of every tensor class and stage, bytes that each group sends. Exits with "
        "0 when all bytes are equal, with 1 when any differs; seconds never decide. Where a router did not deal out "
        "rows to experts equally, bytes are held against the prediction for the rows that were routed.",
        "plan compare --plan plan.json --measured measured.json"};
  }
  void declare(CLI::App& app) override {
    app.add_option("--plan", plan_, "the plan that was run")->group("Question")->type_name("FILE");
    app.add_option("--measured", measured_, "its record, written by plan run --record")
        ->group("Question")
        ->type_name("FILE");
    track_.declare(app);
    app.add_flag("--json", json_, "JSON on standard output, and nothing else there")->group("Output");
  }
  ExitCode run(Terminal& terminal) override {
    require("--plan", plan_);
    require("--measured", measured_);
    track_.require_writable();
    const session::PricedQuestion asked = session::estimate(plan_request(*plan_));
    const RunRecord record = read_run_record_file(*measured_);
    const Comparison comparison = session::compare(asked, record, *measured_).value();  // nobody stops it
    if (!asked.warning.empty()) terminal.note("plan: " + asked.warning);
    terminal.print(json_ ? to_json_text(to_json(comparison))
                         : question_text(asked.plan) + trust_text(asked.plan) + "\n" +
                               comparison_text(comparison, terminal));
    if (track_) {
      TrackedRun tracked = tracked_run(record, asked.plan, time_of_file(*measured_));
      add(tracked, comparison);
      track_.write(tracked, terminal, json_ ? Narration::silent : Narration::notes);
    }
    return comparison.bytes_are_equal() ? ExitCode::done : ExitCode::no;
  }

 private:
  static void require(const char* flag, const std::optional<std::string>& value) {
    if (!value) throw InputError({flag, "is missing", "a file; see plan compare --help", ""});
  }

  std::optional<std::string> plan_, measured_;
  TrackFlag track_;
  bool json_ = false;
};

const RegisteredVerb compare_verb(70, make_verb<CompareVerb>);

}  // namespace

}  // namespace plumbline
