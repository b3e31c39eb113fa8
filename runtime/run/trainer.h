#pragma once
/// \file trainer.h: trains a network as a plan says, on CPU ranks, and records what the run did.
///
/// Answers: a RunRecord (core/measurement/run_record.h), whose names and fingerprints the caller fills. Model: every
/// rank walks its stage's program (execution/executor.h); gradients are summed over the batch, unscaled, clipped by
/// their global norm, and applied; fp16 skips steps that overflow. Ranks are threads of this process, or processes of
/// a launch, of which rank 0 returns the record of all and the others an empty one. Errors: before any work,
/// InputError for what is not executed or does not fit together and EnvironmentError for a disk without room;
/// RunFailure, with the rank, its stage and its action, when a rank throws or hangs; InternalError, with the same, when
/// a rank finds a bug of ours. Not modelled: several jobs in one process; devices. Checked against:
/// tests/runtime/execution, tests/integration/mpi_run_test.py.

#include <chrono>
#include <filesystem>
#include <functional>

#include "core/cost/replays.h"
#include "core/io/json.h"
#include "core/measurement/run_record.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/communication/group_maker.h"
#include "runtime/device/cpu_device.h"
#include "runtime/execution/parameter_init.h"
#include "runtime/execution/rank_environment.h"
#include "runtime/execution/step_graph.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/loss_scale.h"
#include "runtime/training/optimizer_settings.h"
#include "runtime/training/token_source.h"

namespace plumbline {

class ProcessSession;

/// A run ended before its last step (exit code 3). A rank that hangs on is a thread that still reads the job and the
/// options: after this, or an InternalError, they live until the process ends.
class RunFailure : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// Loss, gradients or weights are not finite: nothing is trained, or written, from then on.
class TrainingDiverged : public RunFailure {
 public:
  using RunFailure::RunFailure;
};

/// Of which network a job is, for its checkpoints.
struct NetworkIdentity {
  std::string model_type = {};   ///< as Hugging Face spells it
  std::string config = {};       ///< of Hugging Face, as JSON text; empty: there is none
  std::string fingerprint = {};  ///< of what is executed, whatever the plan
};

/// What is run: a plan, lowered.
struct TrainingJob {
  const Graph& graph;  ///< as trained: frozen parameters and adapters written in
  const Strategy& strategy;
  const Training& training;
  const Program& program;       ///< its segments are single executions of blocks (Granularity::block)
  std::vector<Replay> replays;  ///< by execution of the network: what its backward computes again (replays_of)
  OptimizerSettings optimizer;
  LearningRateSchedule learning_rate;
  LossScaleRule loss_scale;  ///< fp16 alone
  OperatorConstants constants;
  std::string plan_fingerprint;  ///< of plan and constants
  ExpertRouting routing = ExpertRouting::learned;
  NetworkIdentity network = {};
  Fp8Scaling fp8_scaling = Fp8Scaling::tensor;  ///< of fp8 recipes
};

/// How the trained network goes on with a text.
struct Generation {
  std::vector<std::int32_t> prompt;
  std::int64_t tokens = 0;  ///< 0: none
  double temperature = 0;   ///< 0: always the most likely token
};

enum class Transport : std::uint8_t { local, mpi, nccl };

struct RunOptions {
  std::int64_t steps = 1;  ///< that this run takes, from step 0 or the one behind the resumed checkpoint
  std::uint64_t seed = 0;
  TokenSource data;                 ///< tokens below the network's vocabulary
  FirstWeights first_weights = {};  ///< empty: drawn from the seed (parameter_init.h)
  Initialisation initialisation = Initialisation::normal;
  Transport ranks = Transport::local;
  ProcessSession* session = nullptr;  ///< this process as one rank: of Transport::mpi, and of nccl
  /// Of Transport::nccl without a session: what a rank's thread makes its groups with.
  std::function<std::shared_ptr<GroupMaker>(std::int32_t rank)> groups = {};
  std::chrono::milliseconds deadline{25'000};  ///< that a rank waits for another one in a call
  LaneThreads lanes = LaneThreads::none;       ///< whether gathers and reductions run alongside the blocks
  std::string backend = "cpu";                 ///< as the record names it
  /// What a rank computes on; empty: the CPU.
  std::function<std::unique_ptr<ComputeDevice>(std::int32_t rank)> device = {};
  /// `graph`: of one rank, whose device records graphs; InputError otherwise.
  StepLaunch launch = StepLaunch::calls;
  std::int32_t warmup_steps = 0;            ///< not timed
  std::int64_t evaluate_every = 0;          ///< steps between held-out losses; 0: after the last step alone
  std::int64_t patience = 0;                ///< held-out losses that may not improve, and the run ends; 0: any
  Generation generation = {};               ///< after the last step
  std::int64_t checkpoint_every = 0;        ///< steps; 0: after the last, if there is a folder
  std::filesystem::path checkpoint;         ///< folder to write to; empty: none
  std::filesystem::path resume;             ///< a step's folder, or a folder of them (the latest); empty: step 0
  std::vector<std::string> overrides = {};  ///< settings that may be others than the resumed checkpoint's
  StoredData data_source = {};              ///< what `data` was read from, for checkpoints
  std::function<void(const StepRecord&)> on_step = {};  ///< on one thread, after each step
  /// On the same thread, before on_step of the last step: what the network goes on with behind the prompt.
  std::function<void(const std::vector<std::int32_t>&)> on_generated = {};
  /// On each rank's thread, in each step: the signal that asks the run to end behind it; 0: none. Where one rank is
  /// asked all end there, as if it were the last step, and `on_stop` hears on one thread by which signal.
  std::function<int()> stop_signal = {};
  std::function<void(int)> on_stop = {};
  /// On one thread, before on_step of the last step, where the held-out loss has not improved for `patience` times.
  std::function<void(const EarlyStoppingState&)> on_early_stop = {};
  /// On each rank's thread, before its first step: what it holds and does (rank_description.h).
  std::function<void(std::int32_t, const Json&)> on_ready = {};
  /// What the plan predicts of a stage's memory, as text behind an error of a device without room; empty: nothing.
  std::function<std::string(std::int32_t stage)> predicted_memory = {};
  /// Where a rank of an MPI job is, as text, before each action: what its watcher says if it is killed.
  std::function<void(const std::string&)> on_place = {};
  Poison poison = Poison::no;   ///< tests: memory that nobody has written holds NaN
  bool strict_buffers = false;  ///< refuse what does not fit the program's buffers
  /// Tests: called before each action of each rank, on its thread (rank, step, action).
  std::function<void(std::int32_t, std::int64_t, std::int32_t)> on_action = {};
  /// Tests: with a rank's parameters, once its gradients are reduced and after each update, on its thread. Of a step
  /// that is a graph the device has the update before anybody could look at gradients.
  std::function<void(std::int32_t, std::int64_t, const ParameterStore&)> on_gradients = {};
  std::function<void(std::int32_t, std::int64_t, const ParameterStore&)> on_updated = {};
  /// Tests: with the instructions of each execution of a block, which it may change, on the thread of a rank that runs
  /// it.
  std::function<void(BlockProgram&)> on_lowered = {};
  /// Tests: with each micro-batch's logits of the first step, on the thread of a rank that holds some of them.
  LogitsVisit on_logits = {};
};

[[nodiscard]] RunRecord train(const TrainingJob& job, const RunOptions& options);

}  // namespace plumbline
