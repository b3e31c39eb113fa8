// plan run: trains what a plan says, on ranks of this computer, and records what it did.
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
#include "cli/nccl_processes.h"
#include "cli/output_flag.h"
#include "cli/plan_file.h"
#include "cli/run_reports.h"
#include "cli/run_view.h"
#include "cli/track_flag.h"
#include "cli/training_flags.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "core/io/line_writer.h"
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/quantity/text.h"
#include "core/simulate/run_trace.h"
#include "models/this_computer.h"
#include "planner/session/prepare_run.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/device/device_module.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {
namespace {

void refuse(bool refused, const std::string& where, const std::string& what, const std::string& expected) {
  if (refused) throw InputError({where, what, expected, ""});
}

class RunVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "run", "train what a plan says on ranks of this computer, and record what it did",
        "--plan plan.json [--steps N] [--data FILE] [--record measured.json]",
        "Executes the plan's program, action by action, with one thread for each rank, or with --ranks mpi one process "
        "of mpirun or srun. With --backend cuda ranks share one GPU (local), or each has its own (nccl: threads, or "
        "processes of torchrun, srun or mpirun). Without --data it trains on a "
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
    app.add_option("--backend", backend_, "what computes: cpu (default) or cuda (an NVIDIA GPU; see plan doctor)")
        ->group("Question")
        ->type_name("cpu|cuda");
    app.add_option("--ranks", ranks_,
                   "what ranks are: local (threads of this process), mpi (processes of mpirun), or nccl (with "
                   "--backend cuda: a GPU for each)")
        ->group("Question")
        ->type_name("local|mpi|nccl");
    app.add_option("--rendezvous", rendezvous_,
                   "with --ranks nccl: where processes meet, instead of what their launcher says: rank 0's address and "
                   "a free port, or a folder that all see")
        ->group("Question")
        ->type_name("HOST:PORT|FOLDER");
    app.add_flag("--graph", graph_,
                 "with --backend cuda, of one rank: steps behind the first are one CUDA graph, which is launched again "
                 "each time; the numbers are the same")
        ->group("Question");
    app.add_option(
           "--lanes", lanes_,
           "where gathers and reductions of data parallelism run: in-order (on the rank's own thread) or threads "
           "(alongside the blocks, as on a GPU)")
        ->group("Question")
        ->type_name("in-order|threads");
    training_.declare(app);
    record_.declare(app, "write what was measured to this file");
    trace_.declare(app, "write a Chrome trace of one step to this file");
    picture_.declare(app, "draw the loss to this SVG file");
    describe_.declare(app, "write what every rank holds and does to this file (threads alone)");
    track_.declare(app);
    app.add_option("--beside", beside_, "records of other runs, drawn in the same picture")
        ->group("Output")
        ->type_name("FILE");
    app.add_flag("--json", json_, "one JSON object per step on standard output, and nothing else there")
        ->group("Output");
  }
  void check_flags() const override {
    refuse(!plan_, "--plan", "is missing", "a plan file, written by plan search --out");
    if (backend_ && *backend_ != "cpu" && *backend_ != "cuda") refuse_choice("--backend", *backend_, {"cpu", "cuda"});
    refuse(backend_ == "cuda" && lanes_, "--lanes", "is given with --backend cuda, whose lanes are streams of the GPU",
           "one of the two");
    if (ranks_ && *ranks_ != "local" && *ranks_ != "mpi" && *ranks_ != "nccl")
      refuse_choice("--ranks", *ranks_, {"local", "mpi", "nccl"});
    refuse(ranks_ == "nccl" && backend_ != "cuda", "--ranks", "\"nccl\" is given without --backend cuda", "both");
    refuse(rendezvous_ && backend_ != "cuda", "--rendezvous", "is given without --ranks nccl", "both, or neither");
    refuse(graph_ && backend_ != "cuda", "--graph", "is given without --backend cuda", "both, or neither");
    if (lanes_ && *lanes_ != "in-order" && *lanes_ != "threads")
      refuse_choice("--lanes", *lanes_, {"in-order", "threads"});
    if (!ranks_ && backend_ != "cuda") require_session_of_launch();
    refuse(!beside_.empty() && !picture_, "--beside", "is given without --picture", "both, or neither");
  }
  ExitCode run(Terminal& terminal) override {
    if (backend_ == "cuda" && ranks_ != "local" && ranks_ != "mpi") {
      const auto place = ranks_ ? launch_place(process_environment) : launched_with_others(process_environment);
      if (place || ranks_) return run_over_nccl(terminal, place);
    }
    const bool is_mpi = ranks_ ? ranks_ == "mpi" : launched_with_others(process_environment).has_value();
    if (is_mpi)
      return run_as_mpi_rank(
          [&](const MpiRank& rank) { return train_plan(terminal, &rank.session, &rank.note, rank.interruption); });
    const Interruption interruption(std::nullopt);
    return train_plan(terminal, nullptr, nullptr, interruption);
  }

 private:
  /// As the process of one rank, or of all as threads.
  ExitCode run_over_nccl(Terminal& terminal, const std::optional<LaunchPlace>& place) {
    const Interruption interruption(std::nullopt);
    over_nccl_ = true;
    if (!place) return train_plan(terminal, nullptr, nullptr, interruption);
    local_rank_ = place->local_rank;
    return run_as_nccl_rank(cuda_module(), *place, rendezvous_, [&](ProcessSession& session) {
      return train_plan(terminal, &session, nullptr, interruption);
    });
  }
  /// In one process of all local ranks, or in that of one rank of a launch; only the first has anything to say.
  ExitCode train_plan(Terminal& terminal, ProcessSession* launch, SharedNote* note, const Interruption& interruption) {
    try {
      return read_and_train(terminal, launch, note, interruption);
    } catch (const ReadingStopped&) {
      // A launcher ends the other processes where one has failed: what that one said is enough.
      if (launch == nullptr)
        terminal.remark("plan: " + signal_name(interruption.signal()) +
                        ": stopped while --data was read, before the first step; nothing is saved");
      return ended_by(interruption.signal());
    }
  }
  ExitCode read_and_train(Terminal& terminal, ProcessSession* launch, SharedNote* note,
                          const Interruption& interruption) {
    const bool is_first = launch == nullptr || launch->rank() == 0;
    if (launch != nullptr) refuse_what_is_local();
    training_.continue_training();
    if (is_first) track_.require_writable();
    if (is_first)
      require_writable({&record_, &trace_, &picture_, &describe_}, json_ ? StandardOutput::json : StandardOutput::text,
                       terminal);
    const session::PlanRequest request = plan_request(*plan_);
    const Recipe recipe = recipe_of(request);
    training_.follow(recipe.settings);
    const DeviceModule* const module = backend_ == "cuda" ? &cuda_module() : nullptr;
    const session::PreparedRun prepared = session::prepare_run(request).value();  // nobody stops it
    const std::int64_t ranks = prepared.asked.strategy.devices();
    const std::int64_t ranks_on_host =
        launch == nullptr ? ranks : std::min<std::int64_t>(ranks, launch->ranks_on_host());
    if (module == nullptr) session::require_room(prepared, *plan_, ranks_on_host, computer_facts().memory);
    if (over_nccl_ && launch == nullptr) require_devices(*module, ranks);
    const session::PricedQuestion& asked = prepared.asked;
    std::vector<LossCurve> curves = is_first ? other_curves() : std::vector<LossCurve>();
    const Training& t = asked.question.training();
    const StopReading stop = [&] { return interruption.signal() != 0; };
    RunOptions options = training_.options(asked.question.graph(), t.sequence_length, stop);
    const RunSpeed speed = is_first ? run_speed(asked) : RunSpeed();
    RunReports reports(
        {options.steps, t.global_batch * t.sequence_length, unigram_entropy(options.data, stop), speed, meaning()},
        {terminal, interruption, note, json_ && is_first, describe_ ? ranks : 0});
    options.observer = &reports;
    options.ranks.session = launch;
    if (note != nullptr) options.ranks.transport = Transport::mpi;
    if (module != nullptr) run_on(options, *module, terminal);
    options.device.predicted_memory = predicted_memory(asked.plan);
    if (lanes_ == "threads") options.device.lanes = LaneThreads::one_per_lane;
    RunRecord record = trained(job(prepared, recipe), options, terminal, reports.lines());
    if (!is_first) return ExitCode::done;
    terminal.clear_progress();
    if (module != nullptr) remark_on(*module, terminal);
    session::sign(record, asked.plan);
    describe_.write([&] { return reports.descriptions(); }, terminal, narration());
    const int stopped_by = reports.stopped_by();
    std::optional<LineWriter>& lines = reports.lines();
    const Narration files = stopped_by == 0 ? narration() : Narration::silent;
    if (track_) track_.write(tracked_run(record, asked.plan, time_now()), terminal, files);
    write_files(record, std::move(curves), terminal, files);
    if (lines) lines->finish([&] { return interruption.asked(); });
    if (stopped_by != 0) {
      terminal.remark("plan: " + stopped_text(stopped_by, record, options) + unread_text(lines));
      return ended_by(stopped_by);
    }
    if (lines) lines->require_written();
    if (!json_) terminal.print(run_text(record, asked.plan, speed, meaning()));
    return ExitCode::done;
  }
  /// By stage: "40.1 GiB at the peak of stage 0: 12.0 GiB of weights, ...".
  static std::vector<std::string> predicted_memory(const Plan& plan) {
    std::vector<std::string> texts;
    for (const MemoryBreakdown& memory : plan.prediction.stage_memory) {
      std::string parts;
      for (std::size_t c = 0; c < memory_class_count; ++c)
        if (const auto one = static_cast<MemoryClass>(c); memory[one].value() > 0)
          parts += (parts.empty() ? ": " : ", ") + to_text(memory[one]) + " of " + std::string(to_text(one));
      texts.push_back(to_text(memory.device_total()) + " at the peak of stage " + std::to_string(texts.size()) + parts);
    }
    return texts;
  }
  void refuse_what_is_local() const {
    refuse(bool(describe_), "--describe", "is given with processes of a launch", "--ranks local");
    refuse(backend_ == "cuda" && !over_nccl_, "--backend", "\"cuda\" is given with processes of MPI",
           "--ranks nccl, or --backend cpu");
  }
  /// Not before the process has forked: a driver does not survive that.
  static const DeviceModule& cuda_module() {
    try {
      const DeviceModule& module = load_cuda_module();
      module.require_device();
      return module;
    } catch (const EnvironmentError& error) {
      throw EnvironmentError(std::string("--backend cuda: ") + error.what() + "; plan doctor says what is missing");
    }
  }
  /// Local ranks share this process's first device.
  void run_on(RunOptions& options, const DeviceModule& module, Terminal& terminal) const {
    for (const std::string& missing : module.missing_libraries()) terminal.remark("plan: " + missing);
    options.device.backend = ComputeBackend::cuda;
    const bool has_threads = over_nccl_ && options.ranks.session == nullptr;
    options.device.make = [&module, has_threads, here = local_rank_](std::int32_t rank) {
      return module.make_device(has_threads ? rank : here);
    };
    if (graph_) options.device.launch = StepLaunch::graph;
    if (over_nccl_) options.ranks.transport = Transport::nccl;
    if (!has_threads) return;
    const auto meeting = std::make_shared<LocalRendezvous>();
    options.ranks.groups = [&module, meeting](std::int32_t rank) { return module.make_groups(rank, *meeting); };
  }
  /// Says which calls the module's libraries refused during the run.
  static void remark_on(const DeviceModule& module, Terminal& terminal) {
    if (const std::string refused = module.refused_calls(); !refused.empty()) terminal.remark("plan: " + refused);
  }
  [[nodiscard]] Narration narration() const { return json_ ? Narration::silent : Narration::remarks; }
  /// What a signal left: "SIGTERM: stopped after step 41; saved: checkpoint state/step-00000041, record m.json".
  [[nodiscard]] std::string stopped_text(int signal, const RunRecord& record, const RunOptions& options) const {
    const std::int64_t last = record.steps.back().step;
    std::string saved;
    const auto add = [&](const std::string& what, const std::string& name) {
      saved += (saved.empty() ? "; saved: " : ", ") + what + " " + name;
    };
    const std::filesystem::path& folder = options.checkpoints.folder;
    if (!folder.empty()) add("checkpoint", latest_checkpoint(folder).value_or(folder).string());
    if (record_) add("record", *record_.name());
    if (trace_) add("trace", *trace_.name());
    if (picture_) add("picture", *picture_.name());
    if (saved.empty()) saved = "; nothing is saved: there is neither --checkpoint nor --record";
    return signal_name(signal) + ": stopped after step " + std::to_string(last + 1) + saved;
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
      if (options.ranks.transport == Transport::mpi) throw;
      terminal.clear_progress();
      std::fflush(stdout);
      const Failure failure = failure_of(std::current_exception());
      print_failure(failure);
      std::_Exit(static_cast<int>(failure.code));
    }
  }
  [[nodiscard]] TrainingJob job(const session::PreparedRun& prepared, const Recipe& recipe) const {
    const Question& question = prepared.asked.question;
    return {question.graph(),
            prepared.asked.strategy,
            question.training(),
            prepared.simulated.program,
            prepared.simulated.replays,
            training_.optimizer(question.training()),
            training_.learning_rate(),
            recipe.loss_scale,
            question.network().constants,
            prepared.training_fingerprint,
            training_.routing(question.graph()),
            {question.network().model_type, prepared.network_config, prepared.network_fingerprint},
            training_.fp8_scaling(question.training())};
  }
  [[nodiscard]] TokenMeaning meaning() const {
    return training_.is_text() ? TokenMeaning::bytes : TokenMeaning::numbers;
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
      const RunRecord record = read_run_record_file(file);
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

  std::optional<std::string> plan_, backend_, ranks_, lanes_, rendezvous_;
  bool graph_ = false;
  bool over_nccl_ = false;
  std::int32_t local_rank_ = 0;  ///< whose GPU this process uses
  OutputFlag record_{"--record", "record"};
  OutputFlag trace_{"--trace", "trace"};
  OutputFlag picture_{"--picture", "picture"};
  OutputFlag describe_{"--describe", "ranks"};
  TrackFlag track_;
  std::vector<std::string> beside_;
  TrainingFlags training_;
  bool json_ = false;
};

const RegisteredVerb run_verb(60, make_verb<RunVerb>);

}  // namespace

}  // namespace plumbline
