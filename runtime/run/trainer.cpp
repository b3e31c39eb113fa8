#include "runtime/run/trainer.h"

#include <memory>
#include <mutex>

#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/checkpoint/folder_lock.h"
#include "runtime/communication/process_session.h"
#include "runtime/communication/rank_failure.h"
#include "runtime/execution/device_memory_error.h"
#include "runtime/execution/rank_groups.h"
#include "runtime/local/local_ranks.h"
#include "runtime/run/capability_check.h"
#include "runtime/run/checkpoint_catalogue.h"
#include "runtime/run/rank_places.h"
#include "runtime/run/rank_records.h"
#include "runtime/run/rank_training.h"
#include "runtime/run/run_settings.h"
#include "runtime/training/optimizer_numbers.h"

namespace plumbline {
namespace {

/// Every file is read once, by one of the processes.
void require_resumable(const TrainingJob& job, const RunOptions& options, const Checkpoint& checkpoint) {
  require_settings(checkpoint.manifest().settings, settings_of(job, options), options.checkpoints.overrides,
                   checkpoint.path().string());
  const ProcessSession* const session = options.ranks.session;
  checkpoint.require_undamaged(session == nullptr ? 0 : static_cast<std::size_t>(session->rank()),
                               session == nullptr ? 1 : static_cast<std::size_t>(session->size()));
}

/// What is gone on from, and what is to be written; holds the folder that is written to while it lives.
class RunCheckpoints {
 public:
  RunCheckpoints(const TrainingJob& job, const RunOptions& options) {
    const CheckpointOptions& asked = options.checkpoints;
    std::int64_t first_step = 0;
    if (!asked.resume.empty()) {
      const Checkpoint checkpoint = checkpoint_to_resume(asked.resume);
      require_resumable(job, options, checkpoint);
      first_step = checkpoint.manifest().step;
    }
    if (asked.folder.empty()) return;
    const CheckpointSeries series{asked.folder, first_step, options.steps, asked.every};
    require_room(series, checkpoint_catalogue(job).bytes());
    if (options.ranks.session != nullptr && options.ranks.session->rank() != 0) return;
    lock_.emplace(asked.folder);
    remove_partial_checkpoints(asked.folder);
  }

 private:
  std::optional<FolderLock> lock_;
};

void check_processes(const TrainingJob& job, const RankOptions& asked) {
  const ProcessSession* const session = asked.session;
  const bool is_mpi = asked.transport == Transport::mpi;
  check(!is_mpi || session != nullptr, "a session of MPI is there when it is asked");
  check((asked.transport == Transport::nccl) == (asked.groups || (session != nullptr && !is_mpi)),
        "ranks of NCCL have a session or make groups of their own");
  if (session == nullptr || session->size() == job.strategy.devices()) return;
  const std::int32_t processes = session->size();
  const std::string ranks = std::to_string(job.strategy.devices());
  throw InputError(
      {is_mpi ? "MPI" : "NCCL",
       "there " + std::string(processes == 1 ? "is 1 process" : "are " + std::to_string(processes) + " processes"),
       ranks + ", one for each rank of the plan: " +
           (is_mpi ? "mpirun -n " : "torchrun --no-python --nproc-per-node ") + ranks + " plan run ...",
       ""});
}

RunRecord begun_record(const TrainingJob& job, const RunOptions& options) {
  RunRecord record;
  record.backend = to_text(options.device.backend);
  record.transport = to_text(options.ranks.transport);
  if (options.device.launch == StepLaunch::graph) record.launch = "graph";
  record.seed = options.seed;
  record.tokens_per_step = job.training.global_batch * job.training.sequence_length;
  record.warmup_steps = options.warmup_steps;
  record.plan_fingerprint = job.plan_fingerprint;
  record.optimizer = optimizer_record(job.training.optimizer, job.optimizer);
  record.text.held_out = options.data.held_out;
  record.text.tokens = options.data.tokens.size() - options.data.held_out;
  record.text.unigram_entropy = unigram_entropy(options.data);
  if (options.evaluation.generation.tokens > 0) record.text.prompt = options.evaluation.generation.prompt;
  return record;
}

/// What the ranks of this process share. Kept by ranks that never end.
struct SharedByRanks {
  explicit SharedByRanks(RunRecord begun, std::size_t ranks) : places(ranks), record(std::move(begun)) {
    record.ranks.resize(ranks);
  }
  RankPlaces places;
  RunRecord record;  ///< the last rank fills it
  std::mutex mutex;
  std::string first_failure;       ///< of the rank that failed first; others fail because of it, and may end before it
  std::string others_when_failed;  ///< what the others were doing at that time
  bool has_diverged = false;       ///< it does not matter then what the others were doing
};

/// "; the plan predicts 40.1 GiB at the peak of stage 0: ...".
std::string predicted_text(const TrainingJob& job, const RunOptions& options, std::int32_t rank) {
  const std::vector<std::string>& by_stage = options.device.predicted_memory;
  if (by_stage.empty()) return "";
  return "; the plan predicts " + by_stage.at(static_cast<std::size_t>(coordinate(job.strategy, Axis::pipeline, rank)));
}

/// Ends the other ranks, which say why. `others`: what they are doing.
void abandon(World& world, SharedByRanks& shared, const std::string& failure, const std::string& others) {
  {
    const std::scoped_lock lock(shared.mutex);
    if (shared.first_failure.empty()) {
      shared.first_failure = failure;
      shared.others_when_failed = others;
    }
  }
  world.abandon(failure);
}

/// One rank's part.
void train_rank(World& world, const TrainingJob& job, const RunOptions& options, SharedByRanks& shared) {
  const RankPlaces::AtWork at_work(shared.places, world.rank());
  ProcessSession* const session = options.ranks.session;
  const auto report_action = [&](std::int32_t action) {
    shared.places.report_action(world.rank(), action);
    world.report_action(action);
    if (session != nullptr) session->report_action(action);
  };
  std::optional<RankTraining> training;
  try {
    training.emplace(world, job, options, report_action);
    training->run();
  } catch (const DeviceMemoryError& error) {
    const std::string whole = error.what() + predicted_text(job, options, world.rank());
    abandon(world, shared, failure_text(world.rank(), std::make_exception_ptr(DeviceMemoryError(whole))), "");
    throw DeviceMemoryError(whole);
  } catch (const TrainingDiverged& diverged) {
    {
      const std::scoped_lock lock(shared.mutex);
      shared.has_diverged = true;
    }
    abandon(world, shared, diverged.what(), "");
    throw;
  } catch (...) {
    abandon(world, shared, failure_text(world.rank(), std::current_exception()),
            places_text(job, shared.places.status(), world.rank()));
    throw;
  }
  RankTraining& rank = *training;
  if (session != nullptr) session->report_action(-1);
  const bool has_one_clock = session == nullptr || session->ranks_on_host() == world.size();
  const RankRecord of_rank = rank.record(has_one_clock);
  std::vector<RankRecord> of_all = session != nullptr ? gathered(rank.everyone(), of_rank) : std::vector<RankRecord>();
  const std::scoped_lock lock(shared.mutex);
  RunRecord& record = shared.record;
  if (session != nullptr)
    record.ranks = std::move(of_all);
  else
    record.ranks[static_cast<std::size_t>(world.rank())] = of_rank;
  if (world.rank() != 0) return;
  record.steps = rank.steps();
  record.text.generated = rank.generated();
  record.traced_step = rank.traced_step();
}

}  // namespace

RunRecord train(const TrainingJob& job, const RunOptions& options, const std::shared_ptr<const void>& owner) {
  check_capability(job, options);
  check_processes(job, options.ranks);
  const RunCheckpoints checkpoints(job, options);
  ProcessSession* const session = options.ranks.session;
  const auto ranks = static_cast<std::int32_t>(job.strategy.devices());
  const auto shared = std::make_shared<SharedByRanks>(begun_record(job, options), static_cast<std::size_t>(ranks));
  // Copied into every thread: one that hangs outlives this call.
  const auto body = [&job, &options, shared, owner](World& world) { train_rank(world, job, options, *shared); };
  const auto others = [&] {
    const std::scoped_lock lock(shared->mutex);
    const std::string places =
        session != nullptr ? places_text(job, session->peer_status(), session->rank()) : shared->others_when_failed;
    return places.empty() ? "" : "; the others were:" + places.substr(1);
  };
  try {
    if (session != nullptr)
      session->run(body);
    else
      run_local_ranks(ranks,
                      [&options, ranks, body](World& threads) {
                        if (!options.ranks.groups) return body(threads);
                        World own(options.ranks.groups(threads.rank()), ranks);
                        body(own);
                      },
                      {options.ranks.deadline});
  } catch (const InputError&) {
    throw;
  } catch (const InternalError& bug) {
    throw InternalError(bug.what() + others());
  } catch (const std::exception& error) {
    std::string text = error.what();
    {
      const std::scoped_lock lock(shared->mutex);
      // A session of processes knows itself which of them failed first.
      if (session == nullptr && !text.starts_with(shared->first_failure)) text = shared->first_failure;
      if (shared->has_diverged) throw TrainingDiverged(text);
    }
    throw RunFailure(text + others());
  }
  return std::move(shared->record);
}

}  // namespace plumbline
