// plan run: trains what a plan says, on ranks of this computer, and records what it did.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstdlib>

#include "cli/failure.h"
#include "cli/flag_values.h"
#include "cli/loss_view.h"
#include "cli/mpi_processes.h"
#include "cli/plan_options.h"
#include "cli/run_view.h"
#include "cli/training_flags.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/plan_json.h"
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/quantity/text.h"
#include "core/simulate/run_trace.h"
#include "models/this_computer.h"
#include "planner/question/fingerprint.h"
#include "planner/question/priced.h"
#include "planner/question/simulated.h"

namespace plumbline {
namespace {

void refuse(bool refused, const std::string& where, const std::string& what, const std::string& expected) {
  if (refused) throw InputError({where, what, expected, ""});
}

/// A file that will be written when the run has ended is better refused before it begins.
void require_writable(const char* flag, const std::optional<std::string>& file) {
  if (!file) return;
  const std::filesystem::path folder = std::filesystem::absolute(*file).parent_path();
  std::error_code ignored;
  refuse(std::filesystem::is_directory(*file, ignored), flag, "\"" + *file + "\" is a folder", "a file's name");
  refuse(!std::filesystem::is_directory(folder, ignored), flag, "there is no folder " + folder.string(),
         "a file in a folder that exists");
  if (::access(folder.c_str(), W_OK) != 0) throw EnvironmentError(*file + ": cannot be written");
}

/// All that the ranks hold at their peaks.
Bytes peak_of_all_ranks(const PlayedPlan& played, const Strategy& strategy) {
  Bytes sum(0);
  for (const MemoryPeak& peak : played.simulation.memory) sum += peak.memory.device_total();
  return sum * (strategy.devices() / strategy.pipeline_stages);
}

class RunVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "run", "train what a plan says on ranks of this computer, and record what it did",
        "--plan plan.json [--steps N] [--data FILE] [--record measured.json]",
        "Executes the plan's program, action by action, with one thread for each rank, or with --ranks mpi one process "
        "of mpirun or srun. Without --data it trains on a "
        "short text inside of this program. --record keeps losses, times, peak bytes and bytes sent, for plan "
        "compare; --trace draws a step as plan simulate --trace does. Plans of up to 64 ranks, with as much memory "
        "as this computer has: nano-gpt, nano-llama and nano-moe on the machine this-computer are made for it.",
        "plan run --plan plan.json --steps 100 --record measured.json --picture loss.svg\n"
        "mpirun -n 4 plan run --plan plan.json --ranks mpi --steps 100 --record measured.json"};
  }
  void declare(CLI::App& app) override {
    app.add_option("--plan", plan_, "what to run: written by --out of search, fit or estimate")
        ->group("Question")
        ->type_name("FILE");
    app.add_option("--backend", backend_, "what computes: cpu")->group("Question")->type_name("cpu");
    app.add_option("--ranks", ranks_, "what ranks are: local (threads of this process) or mpi (processes of mpirun)")
        ->group("Question")
        ->type_name("local|mpi");
    training_.declare(app);
    const auto file = [&](const char* name, std::optional<std::string>& value, const char* help) {
      app.add_option(name, value, help)->group("Output")->type_name("FILE");
    };
    file("--record", record_, "write what was measured to this file");
    file("--trace", trace_, "write a Chrome trace of one step to this file");
    file("--picture", picture_, "draw the loss to this SVG file");
    app.add_option("--beside", beside_, "records of other runs, drawn in the same picture")
        ->group("Output")
        ->type_name("FILE");
    app.add_flag("--json", json_, "one JSON object per step on standard output, and nothing else there")
        ->group("Output");
  }
  ExitCode run(Terminal& terminal) override {
    if (ranks_ != "mpi") return train_plan(terminal, nullptr, nullptr);
    return run_as_mpi_rank(
        [&](MpiSession& session, SharedNote& note) { return train_plan(terminal, &session, &note); });
  }

 private:
  /// In one process of all local ranks, or in that of one rank of `session`; only the first has anything to say.
  ExitCode train_plan(Terminal& terminal, MpiSession* session, SharedNote* note) const {
    const bool is_first = session == nullptr || session->rank() == 0;
    check_flags();
    if (is_first) check_files();
    const PricedQuestion asked = asked_plan();
    PlayOptions as_run;
    as_run.granularity = Granularity::block;
    const PlayedPlan played = plumbline::played(asked.question, asked.strategy, as_run);
    check_size(asked, played, session);
    std::vector<LossCurve> curves = is_first ? other_curves() : std::vector<LossCurve>();
    RunOptions options = training_.options(asked.question.graph());
    options.on_step = [&](const StepRecord& step) { show(step, asked, options, terminal); };
    if (session != nullptr) {
      options.ranks = Transport::mpi;
      options.mpi = session;
      options.on_place = [note](const std::string& place) { note->write(place); };
    }
    RunRecord record = trained(job(asked, played), options, terminal);
    if (!is_first) return ExitCode::done;
    terminal.clear_progress();
    sign(record, asked.plan);
    write_files(record, std::move(curves), terminal);
    if (!json_) terminal.print(run_text(record, asked.plan));
    return ExitCode::done;
  }
  /// A thread that hangs would outlive what it reads: where one may, the process ends here.
  static RunRecord trained(const TrainingJob& job, const RunOptions& options, Terminal& terminal) {
    try {
      return train(job, options);
    } catch (const RunFailure& error) {
      if (options.mpi != nullptr) throw;
      terminal.clear_progress();
      std::fflush(stdout);
      print_failure(failure_of(std::current_exception()));
      std::_Exit(static_cast<int>(ExitCode::environment));
    }
  }
  void check_flags() const {
    refuse(!plan_, "--plan", "is missing", "a plan file, written by plan search --out");
    refuse(backend_ && *backend_ != "cpu", "--backend", "\"" + backend_.value_or("") + "\" is not built in", "cpu");
    if (ranks_ && *ranks_ != "local" && *ranks_ != "mpi") refuse_choice("--ranks", *ranks_, {"local", "mpi"});
    refuse(!beside_.empty() && !picture_, "--beside", "stands without --picture", "both, or neither");
  }
  void check_files() const {
    require_writable("--record", record_);
    require_writable("--trace", trace_);
    require_writable("--picture", picture_);
  }
  /// The plan, of the very network that it was made for.
  [[nodiscard]] PricedQuestion asked_plan() const {
    const Json json = read_json_file(*plan_);
    const Plan written = plan_from_json(JsonPlace(json, *plan_ + ":"));
    PricedQuestion asked = priced_file(*plan_, QuestionOptions());
    const std::string& expected = written.model.fingerprint;
    refuse(!expected.empty() && expected != asked.plan.model.fingerprint, *plan_ + ":/model/fingerprint",
           "the network " + asked.plan.model.name + " is not the one that the plan was made for",
           "fingerprint " + asked.plan.model.fingerprint + "; make the plan anew");
    return asked;
  }
  /// Of a session's ranks those on this computer count.
  void check_size(const PricedQuestion& asked, const PlayedPlan& played, const MpiSession* session) const {
    const std::int64_t ranks = asked.strategy.devices();
    const std::int64_t ranks_here = session == nullptr ? ranks : std::min<std::int64_t>(ranks, session->ranks_here());
    refuse(ranks_here > most_local_ranks, *plan_ + ":/strategy", "the plan has " + std::to_string(ranks) + " ranks",
           "at most " + std::to_string(most_local_ranks) + " on this computer");
    const Bytes needed = peak_of_all_ranks(played, asked.strategy) * ranks_here / ranks;
    const Bytes memory = computer_facts().memory;
    refuse(needed > memory, *plan_, "the ranks here need " + to_text(needed) + " together",
           "at most this computer's " + to_text(memory));
  }
  [[nodiscard]] TrainingJob job(const PricedQuestion& asked, const PlayedPlan& played) const {
    const std::vector<BlockCost> blocks = block_costs(asked.question, asked.strategy);
    const StageLayout layout = layout_of(asked.question, asked.strategy, blocks);
    const Graph& graph = asked.question.graph();
    return {graph,
            asked.strategy,
            asked.question.training(),
            played.program,
            replays_of(graph, blocks, layout.arrangement.variants, asked.strategy.recompute.mode),
            training_.optimizer(),
            training_.learning_rate(),
            {},
            asked.question.network().constants,
            fingerprint(fingerprint(asked.plan) + canonical_text(asked.question.network().constants)),
            training_.routing(graph)};
  }
  void show(const StepRecord& step, const PricedQuestion& asked, const RunOptions& options, Terminal& terminal) const {
    const Training& t = asked.question.training();
    const std::int64_t tokens = t.global_batch * t.sequence_length;
    if (json_) {
      terminal.print(to_json_text(step_line_json(step, tokens), -1));
      terminal.finish();
      return;
    }
    const double seconds = static_cast<double>(std::max<std::int64_t>(1, step.time_ns)) * 1e-9;
    terminal.progress(step_line(step, options.steps, static_cast<double>(tokens) / seconds));
  }
  static void sign(RunRecord& record, const Plan& plan) {
    record.program_version = PLUMBLINE_VERSION;
    record.plan_fingerprint = fingerprint(plan);
    record.model = plan.model.name;
    record.model_fingerprint = plan.model.fingerprint;
    record.machine = plan.machine.name;
  }
  static LossCurve curve_of(const RunRecord& record, const std::string& name) {
    LossCurve curve{name, {}};
    for (const StepRecord& step : record.steps) curve.losses.push_back(step.loss);
    return curve;
  }
  [[nodiscard]] std::vector<LossCurve> other_curves() const {
    std::vector<LossCurve> curves;
    for (const std::string& file : beside_) {
      const Json json = read_json_file(file);
      const RunRecord record = run_record_from_json(JsonPlace(json, file + ":"));
      curves.push_back(curve_of(record, std::to_string(record.ranks.size()) +
                                            (record.ranks.size() == 1 ? " rank" : " ranks") + ", " + record.model));
    }
    return curves;
  }
  void write_files(const RunRecord& record, std::vector<LossCurve> curves, Terminal& terminal) const {
    const auto write = [&](const std::optional<std::string>& file, const char* what, const auto& content) {
      if (!file) return;
      write_file_atomically(*file, content());
      if (!json_) terminal.remark(std::string(what) + " written to " + *file);
    };
    write(record_, "record", [&] { return to_json_text(to_json(record)); });
    write(trace_, "trace", [&] { return trace_json_text(trace(record)); });
    write(picture_, "picture", [&] {
      const std::size_t ranks = record.ranks.size();
      curves.push_back(
          curve_of(record, std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", " + record.model));
      return loss_picture("Loss of " + record.model, curves);
    });
  }

  std::optional<std::string> plan_, backend_, ranks_, record_, trace_, picture_;
  std::vector<std::string> beside_;
  TrainingFlags training_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace plumbline
