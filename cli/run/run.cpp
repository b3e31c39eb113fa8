// plan run: trains what a plan says, on ranks of this computer, and records what it did.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/failure.h"
#include "cli/flags/declare_options.h"
#include "cli/flags/plan_file.h"
#include "cli/interruption.h"
#include "cli/run/cuda_ranks.h"
#include "cli/run/mpi_processes.h"
#include "cli/run/nccl_processes.h"
#include "cli/run/run_files.h"
#include "cli/run/run_reports.h"
#include "cli/run/run_view.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "jobs/training_job.h"
#include "models/this_computer.h"
#include "planner/session/compare/prepare_run.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/run/flags/rank_flags.h"
#include "runtime/run/flags/training_flags.h"

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
    declare_options(app, RankFlags::option_table(), ranks_, "Question");
    declare_options(app, TrainingFlags::option_table(), training_, "Training");
    files_.declare(app);
    app.add_flag("--json", json_, "one JSON object per step on standard output, and nothing else there")
        ->group("Output");
  }
  void check_flags() const override {
    refuse(!plan_, "--plan", "is missing", "a plan file, written by plan search --out");
    const RankModes modes = ranks_.modes();
    if (!modes.transport && !modes.is_cuda()) require_session_of_launch();
    files_.check();
  }
  ExitCode run(Terminal& terminal) override {
    modes_ = ranks_.modes();
    role_ = rank_role(modes_);
    if (role_.transport == Transport::mpi)
      return run_as_mpi_rank([&](const MpiRank& rank) {
        return train_plan(terminal, {&rank.session, &rank.note, rank.interruption});
      });
    const Interruption interruption(std::nullopt);
    if (!role_.place) return train_plan(terminal, {nullptr, nullptr, interruption});
    return run_as_nccl_rank(cuda_module(), *role_.place, ranks_.rendezvous(), [&](ProcessSession& session) {
      return train_plan(terminal, {&session, nullptr, interruption});
    });
  }

 private:
  /// As what a process trains.
  struct RunProcess {
    ProcessSession* launch;  ///< of which it is one rank; null: it has all ranks as threads
    SharedNote* note;        ///< where it writes where it is; null: nobody watches over it
    const Interruption& interruption;

    [[nodiscard]] bool is_first() const { return launch == nullptr || launch->rank() == 0; }
  };

  /// In one process of all local ranks, or in that of one rank of a launch; only the first has anything to say.
  ExitCode train_plan(Terminal& terminal, const RunProcess& process) {
    try {
      return read_and_train(terminal, process);
    } catch (const ReadingStopped&) {
      // A launcher ends the other processes where one has failed: what that one said is enough.
      const int signal = process.interruption.signal();
      if (process.launch == nullptr)
        terminal.note("plan: " + signal_name(signal) +
                      ": stopped while --data was read, before the first step; nothing is saved");
      return ended_by(signal);
    }
  }
  ExitCode read_and_train(Terminal& terminal, const RunProcess& process) {
    const auto& [launch, note, interruption] = process;
    const bool is_first = process.is_first();
    if (launch != nullptr) refuse_what_is_local();
    training_.continue_training();
    if (is_first) files_.require_all_writable(json_ ? StandardOutput::json : StandardOutput::text, terminal);
    const session::PlanRequest request = plan_request(*plan_);
    const Recipe recipe = recipe_of(request);
    training_.follow(recipe.settings);
    const DeviceModule* const module = modes_.is_cuda() ? &cuda_module() : nullptr;
    const session::PreparedRun prepared = session::prepare_run(request).value();  // nobody stops it
    const std::int64_t ranks = prepared.asked.strategy.devices();
    const std::int64_t ranks_on_host =
        launch == nullptr ? ranks : std::min<std::int64_t>(ranks, launch->ranks_on_host());
    if (module == nullptr) session::require_room(prepared, *plan_, ranks_on_host, computer_facts().memory);
    if (role_.transport == Transport::nccl && launch == nullptr) require_devices(*module, ranks);
    const session::PricedQuestion& asked = prepared.asked;
    std::vector<LossCurve> curves = is_first ? files_.other_curves() : std::vector<LossCurve>();
    const StopReading stop = [&process] { return process.interruption.signal() != 0; };
    RunOptions options = jobs::run_options(prepared, training_, stop);
    const RunSpeed speed = is_first ? jobs::run_speed_of(asked) : RunSpeed();
    const ReportedRun reported = jobs::reported_run(prepared, training_, options, speed, stop);
    RunReports reports(reported,
                       {terminal, interruption, note, json_ && is_first, files_.describes_ranks() ? ranks : 0});
    options.observer = &reports;
    options.ranks.session = launch;
    options.ranks.transport = role_.transport;
    options.device.lanes = modes_.lanes;
    options.device.launch = modes_.launch;
    if (module != nullptr) use_cuda(options, *module, role_, terminal);
    RunRecord record = trained(jobs::training_job(prepared, training_, recipe), options, terminal, reports.lines());
    if (!is_first) return ExitCode::done;
    terminal.clear_progress();
    if (module != nullptr) note_refused_calls(*module, terminal);
    session::sign(record, asked.plan);
    files_.write_descriptions([&] { return reports.descriptions(); }, terminal, narration());
    const int stopped_by = reports.stopped_by();
    std::optional<LineWriter>& lines = reports.lines();
    files_.write(record, asked.plan, std::move(curves), terminal, stopped_by == 0 ? narration() : Narration::silent);
    if (lines) lines->finish([&process] { return process.interruption.asked(); });
    if (stopped_by != 0) {
      terminal.note("plan: " + stopped_text(stopped_by, record, options) + unread_text(lines));
      return ended_by(stopped_by);
    }
    if (lines) lines->require_written();
    if (!json_) terminal.print(run_text(record, asked.plan, reported.speed, reported.meaning));
    return ExitCode::done;
  }
  void refuse_what_is_local() const {
    files_.refuse_what_is_local();
    refuse(modes_.is_cuda() && role_.transport == Transport::mpi, "--backend",
           "\"cuda\" is given with processes of MPI", "--ranks nccl, or --backend cpu");
  }
  [[nodiscard]] Narration narration() const { return json_ ? Narration::silent : Narration::notes; }
  /// What a signal left: "SIGTERM: stopped after step 41; saved: checkpoint state/step-00000041, record m.json".
  [[nodiscard]] std::string stopped_text(int signal, const RunRecord& record, const RunOptions& options) const {
    const std::int64_t last = record.steps.back().step;
    std::string saved;
    const auto add = [&](const std::string& what, const std::string& name) {
      saved += (saved.empty() ? "; saved: " : ", ") + what + " " + name;
    };
    const std::filesystem::path& folder = options.checkpoints.folder;
    if (!folder.empty()) add("checkpoint", latest_checkpoint(folder).value_or(folder).string());
    for (const auto& [what, name] : files_.saved()) add(what, name);
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

  std::optional<std::string> plan_;
  RankFlags ranks_;
  TrainingFlags training_;
  RunFiles files_;
  bool json_ = false;
  RankModes modes_;  ///< from `run` on
  RankRole role_;
};

const RegisteredVerb run_verb(60, make_verb<RunVerb>);

}  // namespace

}  // namespace plumbline
