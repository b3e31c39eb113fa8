#include "runtime/trainer.h"

#include <memory>
#include <mutex>

#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/execution/rank_training.h"
#include "runtime/local/local_ranks.h"
#include "runtime/mpi/mpi_session.h"
#include "runtime/rank_places.h"
#include "runtime/rank_records.h"

namespace plumbline {
namespace {

void refuse(bool holds, const std::string& what, const std::string& expected) {
  if (!holds) throw InputError({"plan", what, expected, ""});
}

bool has_tied_parameter(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Tensor& tensor : block.tensors())
      if (tensor.role == TensorRole::parameter && tensor.tied) return true;
  return false;
}

/// Every expert gets as many rows of each rank's tokens.
bool balances(const RouterAttributes& router, const Strategy& s, const Training& training) {
  const std::int64_t sequence = training.sequence_length / s.context_parallel;
  const std::int64_t ranks = s.sequence_parallel == SequenceParallel::on ? s.tensor_parallel : 1;
  return sequence * router.chosen % router.experts == 0 &&
         s.micro_batch * sequence / ranks * router.chosen % router.experts == 0;
}

void check_experts(const TrainingJob& job) {
  const Strategy& s = job.strategy;
  for (const Block& block : job.graph.blocks())
    for (const Op& op : block.ops()) {
      const auto* router = std::get_if<RouterAttributes>(&op.attributes);
      if (router == nullptr) continue;
      refuse(s.expert_tensor_parallel == 1, "tensor parallelism inside of experts is not executed", "etp 1");
      // As Megatron-LM: else every tensor-parallel rank would send the same tokens.
      refuse(s.tensor_parallel == 1 || s.sequence_parallel == SequenceParallel::on,
             "experts and tensor parallelism without sequence parallelism are not executed", "sequence parallelism");
      refuse(job.training.optimizer != Optimizer::muon, "Muon for experts is not executed", "another optimizer");
      refuse(job.routing == ExpertRouting::learned || balances(*router, s, job.training),
             "a rank's tokens cannot be dealt out to " + std::to_string(router->experts) + " experts equally",
             "longer sequences or micro-batches, or learned routing");
    }
}

bool has_experts(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Op& op : block.ops())
      if (op.kind == OpKind::grouped_linear) return true;
  return false;
}

/// What no rank could do, said before any work.
void check_job(const TrainingJob& job, const RunOptions& options) {
  const Strategy& s = job.strategy;
  const bool ends_meet = s.pipeline_stages == 1 || placement(s.schedule) == StagePlacement::v_shaped;
  refuse(!(has_tied_parameter(job.graph) && s.zero_stage >= 2 && ends_meet),
         "a tied embedding with ZeRO-" + std::to_string(s.zero_stage) + " and its head on one rank is not executed",
         "ZeRO-0 or ZeRO-1, or a pipeline whose ends are two ranks");
  refuse(!(job.training.optimizer == Optimizer::muon && (s.zero_stage > 0 || s.tensor_parallel > 1)),
         "Muon needs whole matrices", "ZeRO-0 without tensor parallelism");
  refuse(job.training.precision != PrecisionRecipe::fp8 || !has_experts(job.graph), "experts in fp8 are not executed",
         "fp32, tf32, bf16 or fp16");
  refuse(s.context_parallel == 1 || s.flash_attention == FlashAttention::on,
         "context parallelism without flash attention is not executed", "flash attention");
  check_experts(job);
  refuse(s.devices() <= 1024, "it has " + std::to_string(s.devices()) + " ranks", "at most 1024");
  refuse(options.data.vocabulary >= 1 && !options.data.tokens.empty(), "there is no data", "tokens");
  check_learning_rate(job.learning_rate, "learning rate");
}

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
  check_job(job, options);
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
