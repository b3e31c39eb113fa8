// plan run: trains what a plan says, on ranks of this computer, and records what it did.
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/failure.h"
#include "cli/flag_values.h"
#include "cli/interruption.h"
#include "cli/loss_view.h"
#include "cli/mpi_processes.h"
#include "cli/output_flag.h"
#include "cli/plan_options.h"
#include "cli/run_view.h"
#include "cli/training_flags.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/base/escape.h"
#include "core/io/line_writer.h"
#include "core/io/plan_json.h"
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/quantity/text.h"
#include "core/simulate/run_trace.h"
#include "models/network_config.h"
#include "models/this_computer.h"
#include "planner/question/fingerprint.h"
#include "planner/question/priced.h"
#include "planner/question/simulated.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/launch_place.h"

namespace plumbline {
namespace {

void refuse(bool refused, const std::string& where, const std::string& what, const std::string& expected) {
  if (refused) throw InputError({where, what, expected, ""});
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
    record_.declare(app, "write what was measured to this file");
    trace_.declare(app, "write a Chrome trace of one step to this file");
    picture_.declare(app, "draw the loss to this SVG file");
    app.add_option("--beside", beside_, "records of other runs, drawn in the same picture")
        ->group("Output")
        ->type_name("FILE");
    app.add_flag("--json", json_, "one JSON object per step on standard output, and nothing else there")
        ->group("Output");
  }
  void check_flags() const override {
    refuse(!plan_, "--plan", "is missing", "a plan file, written by plan search --out");
    refuse(backend_ && *backend_ != "cpu", "--backend", "\"" + backend_.value_or("") + "\" is not built in", "cpu");
    if (ranks_ && *ranks_ != "local" && *ranks_ != "mpi") refuse_choice("--ranks", *ranks_, {"local", "mpi"});
    if (!ranks_) require_session_of_launch();
    refuse(!beside_.empty() && !picture_, "--beside", "stands without --picture", "both, or neither");
  }
  ExitCode run(Terminal& terminal) override {
    const bool is_mpi = ranks_ ? ranks_ == "mpi" : launched_with_others(process_environment).has_value();
    if (is_mpi)
      return run_as_mpi_rank(
          [&](const MpiRank& rank) { return train_plan(terminal, &rank.session, &rank.note, rank.interruption); });
    const Interruption interruption(std::nullopt);
    return train_plan(terminal, nullptr, nullptr, interruption);
  }

 private:
  /// In one process of all local ranks, or in that of one rank of `session`; only the first has anything to say.
  ExitCode train_plan(Terminal& terminal, MpiSession* session, SharedNote* note, const Interruption& interruption) {
    const bool is_first = session == nullptr || session->rank() == 0;
    training_.continue_training();
    if (is_first)
      require_writable({&record_, &trace_, &picture_}, json_ ? StandardOutput::json : StandardOutput::text, terminal);
    const PricedQuestion asked = asked_plan();
    PlayOptions as_run;
    as_run.granularity = Granularity::block;
    const PlayedPlan played = plumbline::played(asked.question, asked.strategy, as_run);
    check_size(asked, played, session);
    std::vector<LossCurve> curves = is_first ? other_curves() : std::vector<LossCurve>();
    RunOptions options = training_.options(asked.question.graph(), asked.question.training().sequence_length);
    const Training& t = asked.question.training();
    const RunSpeed speed = is_first ? run_speed(asked) : RunSpeed();
    StepReport report(
        {options.steps, t.global_batch * t.sequence_length, unigram_entropy(options.data), speed, meaning()});
    options.on_generated = [&](const std::vector<std::int32_t>& tokens) { report.note_generated(tokens); };
    std::optional<LineWriter> lines;
    if (json_ && is_first) lines.emplace(STDOUT_FILENO, "standard output");
    options.on_step = [&](const StepRecord& step) {
      report.note(step);
      if (lines)
        lines->write(printable_lines(to_json_text(report.json(), -1)));
      else
        terminal.progress(report.line());
    };
    if (session != nullptr) {
      options.ranks = Transport::mpi;
      options.mpi = session;
      options.on_place = [note](const std::string& place) { note->write(place); };
    }
    options.stop_signal = [&] { return interruption.signal(); };
    int stopped_by = 0;
    options.on_stop = [&](int signal) { stopped_by = signal; };
    RunRecord record = trained(job(asked, played), options, terminal, lines);
    if (!is_first) return ExitCode::done;
    terminal.clear_progress();
    sign(record, asked.plan);
    write_files(record, std::move(curves), terminal, stopped_by == 0 ? narration() : Narration::silent);
    if (lines) lines->finish([&] { return interruption.asked(); });
    if (stopped_by != 0) {
      terminal.remark("plan: " + stopped_text(stopped_by, record, options) + unread_text(lines));
      return ended_by(stopped_by);
    }
    if (lines) lines->require_written();
    if (!json_) terminal.print(run_text(record, asked.plan, speed, meaning()));
    return ExitCode::done;
  }
  [[nodiscard]] Narration narration() const { return json_ ? Narration::silent : Narration::remarks; }
  /// What a signal left: "SIGTERM: stopped after step 41; saved: checkpoint state/step-00000042, record m.json".
  [[nodiscard]] std::string stopped_text(int signal, const RunRecord& record, const RunOptions& options) const {
    const std::int64_t last = record.steps.back().step;
    std::string saved;
    const auto add = [&](const std::string& what, const std::string& name) {
      saved += (saved.empty() ? "; saved: " : ", ") + what + " " + name;
    };
    if (!options.checkpoint.empty())
      add("checkpoint", latest_checkpoint(options.checkpoint).value_or(options.checkpoint).string());
    if (record_) add("record", *record_.name());
    if (trace_) add("trace", *trace_.name());
    if (picture_) add("picture", *picture_.name());
    if (saved.empty()) saved = "; nothing is saved: there is neither --checkpoint nor --record";
    return signal_name(signal) + ": stopped after step " + std::to_string(last) + saved;
  }
  static std::string unread_text(const std::optional<LineWriter>& lines) {
    const std::int64_t unread = lines ? lines->unwritten() : 0;
    return unread == 0 ? "" : "; nobody read the last " + std::to_string(unread) + " lines of standard output";
  }
  /// A thread that hangs would outlive what it reads: where one may, the process ends here.
  static RunRecord trained(const TrainingJob& job, const RunOptions& options, Terminal& terminal,
                           std::optional<LineWriter>& lines) {
    try {
      return train(job, options);
    } catch (const InputError&) {
      throw;
    } catch (const std::exception&) {
      if (lines) lines->finish([] { return true; });
      if (options.mpi != nullptr) throw;
      terminal.clear_progress();
      std::fflush(stdout);
      const Failure failure = failure_of(std::current_exception());
      print_failure(failure);
      std::_Exit(static_cast<int>(failure.code));
    }
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
    const std::int64_t ranks_on_host =
        session == nullptr ? ranks : std::min<std::int64_t>(ranks, session->ranks_on_host());
    refuse(ranks_on_host > most_local_ranks, *plan_ + ":/strategy", "the plan has " + std::to_string(ranks) + " ranks",
           "at most " + std::to_string(most_local_ranks) + " on this computer");
    const Bytes needed = peak_of_all_ranks(played, asked.strategy) * ranks_on_host / ranks;
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
            training_.optimizer(asked.question.training().optimizer),
            training_.learning_rate(),
            {},
            asked.question.network().constants,
            fingerprint(fingerprint(asked.plan) + canonical_text(asked.question.network().constants)),
            training_.routing(graph),
            identity(asked)};
  }
  static NetworkIdentity identity(const PricedQuestion& asked) {
    const Network& network = asked.question.network();
    return {network.model_type, network_config(network, asked.plan.model.source),
            fingerprint(asked.plan.model.fingerprint + canonical_text(network.constants))};
  }
  [[nodiscard]] TokenMeaning meaning() const {
    return training_.is_text() ? TokenMeaning::bytes : TokenMeaning::numbers;
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
  /// What the loss is read by: held-out losses, as dots where they were evaluated, and the unigram entropy.
  static void add_marks(const RunRecord& record, std::vector<LossCurve>& curves) {
    LossCurve held_out{"held-out text", {}};
    for (const StepRecord& step : record.steps) held_out.losses.push_back(step.held_out_loss.value_or(std::nan("")));
    const auto is_there = [](double loss) { return !std::isnan(loss); };
    if (std::any_of(held_out.losses.begin(), held_out.losses.end(), is_there)) curves.push_back(std::move(held_out));
    if (record.text.tokens > 0)
      curves.push_back({"unigram entropy", std::vector<double>(record.steps.size(), record.text.unigram_entropy)});
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
  void write_files(const RunRecord& record, std::vector<LossCurve> curves, Terminal& terminal,
                   Narration narration) const {
    const auto write = [&](const OutputFlag& file, const auto& text) { file.write(text, terminal, narration); };
    write(record_, [&] { return to_json_text(to_json(record)); });
    write(trace_, [&] { return trace_json_text(trace(record)); });
    write(picture_, [&] {
      const std::size_t ranks = record.ranks.size();
      curves.push_back(
          curve_of(record, std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", " + record.model));
      add_marks(record, curves);
      return loss_picture("Loss of " + record.model, curves);
    });
  }

  std::optional<std::string> plan_, backend_, ranks_;
  OutputFlag record_{"--record", "record"};
  OutputFlag trace_{"--trace", "trace"};
  OutputFlag picture_{"--picture", "picture"};
  std::vector<std::string> beside_;
  TrainingFlags training_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace plumbline
