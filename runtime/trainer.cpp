#include "runtime/trainer.h"

#include <memory>
#include <mutex>

#include "runtime/admission.h"
#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/execution/rank_training.h"
#include "runtime/local/local_ranks.h"
#include "runtime/mpi/mpi_session.h"
#include "runtime/rank_places.h"
#include "runtime/rank_records.h"

namespace plumbline {
namespace {

/// What every rank keeps between steps, and a checkpoint holds of it.
Bytes checkpoint_bytes(const TrainingJob& job) {
  Bytes sum(0);
  for (const RankProgram& rank : job.program.ranks)
    for (const Buffer& buffer : rank.buffers)
      if (buffer.lifetime == Lifetime::persistent && buffer.memory_class != MemoryClass::gradients) sum += buffer.bytes;
  return sum * (job.strategy.devices() / job.strategy.pipeline_stages);
}

void check_checkpoints(const TrainingJob& job, const RunOptions& options) {
  std::int64_t first_step = 0;
  if (!options.resume.empty())
    first_step =
        checkpoint_to_resume(options.resume, job.plan_fingerprint, static_cast<std::int32_t>(job.strategy.devices()))
            .manifest()
            .step;
  if (!options.checkpoint.empty())
    require_room({options.checkpoint, first_step, options.steps, options.checkpoint_every}, checkpoint_bytes(job));
}

void check_processes(const TrainingJob& job, const RunOptions& options) {
  check((options.ranks == Transport::mpi) == (options.mpi != nullptr), "a session of MPI is there when it is asked");
  if (options.mpi == nullptr || options.mpi->size() == job.strategy.devices()) return;
  const std::int32_t processes = options.mpi->size();
  const std::string ranks = std::to_string(job.strategy.devices());
  throw InputError(
      {"MPI",
       "there " + std::string(processes == 1 ? "is 1 process" : "are " + std::to_string(processes) + " processes"),
       ranks + ", one for each rank of the plan: mpirun -n " + ranks + " plan run ...", ""});
}

RunRecord begun_record(const TrainingJob& job, const RunOptions& options) {
  RunRecord record;
  record.backend = "cpu";
  record.transport = options.ranks == Transport::local ? "local" : "mpi";
  record.seed = options.seed;
  record.tokens_per_step = job.training.global_batch * job.training.sequence_length;
  record.warmup_steps = options.warmup_steps;
  record.plan_fingerprint = job.plan_fingerprint;
  return record;
}

/// What the ranks of this process share. Kept by ranks that never end.
struct Shared {
  explicit Shared(std::size_t ranks) : places(ranks) {}
  RankPlaces places;
  std::mutex mutex;
  std::string others_when_failed;  ///< where the others stood when the first rank failed
};

/// One rank's part; the last of it fills `record`.
void train_rank(World& world, const TrainingJob& job, const RunOptions& options, Shared& shared, RunRecord& record) {
  const RankPlaces::AtWork at_work(shared.places, world.rank());
  RunOptions own = options;
  own.on_action = [&](std::int32_t rank, std::int64_t step, std::int32_t action) {
    shared.places.stand(rank, action);
    if (options.mpi != nullptr) options.mpi->stand_at(action);
    if (options.on_action) options.on_action(rank, step, action);
  };
  RankTraining rank(world, job, own);
  try {
    rank.run();
  } catch (...) {
    const std::scoped_lock lock(shared.mutex);
    if (shared.others_when_failed.empty())
      shared.others_when_failed = places_text(job, shared.places.standings(), world.rank());
    throw;
  }
  if (options.mpi != nullptr) options.mpi->stand_at(-1);
  const bool has_one_clock = options.mpi == nullptr || options.mpi->ranks_here() == world.size();
  const RankRecord of_rank = rank.record(has_one_clock ? nanoseconds_behind(world, rank.traced_begin_ns()) : 0);
  std::vector<RankRecord> of_all = options.mpi != nullptr ? gathered(world, of_rank) : std::vector<RankRecord>();
  const std::scoped_lock lock(shared.mutex);
  if (options.mpi != nullptr)
    record.ranks = std::move(of_all);
  else
    record.ranks[static_cast<std::size_t>(world.rank())] = of_rank;
  if (world.rank() != 0) return;
  record.steps = rank.steps();
  record.traced_step = rank.traced_step();
}

}  // namespace

RunRecord train(const TrainingJob& job, const RunOptions& options) {
  admit(job, options);
  check_processes(job, options);
  check_checkpoints(job, options);
  RunRecord record = begun_record(job, options);
  const auto ranks = static_cast<std::int32_t>(job.strategy.devices());
  record.ranks.resize(static_cast<std::size_t>(ranks));
  const auto shared = std::make_shared<Shared>(record.ranks.size());
  const auto body = [&, shared](World& world) { train_rank(world, job, options, *shared, record); };
  try {
    if (options.mpi != nullptr)
      options.mpi->run(body);
    else
      run_local_ranks(ranks, body, {options.deadline});
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    const std::scoped_lock lock(shared->mutex);
    const std::string others = options.mpi != nullptr ? places_text(job, options.mpi->standings(), options.mpi->rank())
                                                      : shared->others_when_failed;
    throw RunFailure(error.what() + (others.empty() ? "" : "; the others were:" + others.substr(1)));
  }
  return record;
}

}  // namespace plumbline
