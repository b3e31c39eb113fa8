#pragma once
/// \file run_options.h: how a plan is trained, beside the plan: for how long, on what data, by which ranks on which
/// devices, and which checkpoints are written.
///
/// Model: plain values, and what makes a rank's device and groups. Who hears of the run is a RunObserver.
/// Not modelled: flags and their defaults (runtime/run/flags); what a plan and its recipe decide (TrainingJob).

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "runtime/checkpoint/manifest.h"
#include "runtime/communication/group_maker.h"
#include "runtime/device/compute_backend.h"
#include "runtime/device/cpu_device.h"
#include "runtime/execution/backend.h"
#include "runtime/execution/execution_probe.h"
#include "runtime/execution/parameter_init.h"
#include "runtime/execution/parameter_state.h"
#include "runtime/execution/step_graph.h"
#include "runtime/run/run_observer.h"
#include "runtime/training/token_source.h"

namespace plumbline {

class ProcessSession;

/// `local`: threads of this process. `mpi`: processes of an MPI job. `nccl`: threads or processes, with a GPU each.
enum class Transport : std::uint8_t { local, mpi, nccl };
inline constexpr std::array all_transports{Transport::local, Transport::mpi, Transport::nccl};
/// As flags and records name it.
[[nodiscard]] std::string_view to_text(Transport transport);
[[nodiscard]] std::optional<Transport> transport_from_text(std::string_view text);

/// What ranks are, and how they reach each other.
struct RankOptions {
  Transport transport = Transport::local;
  ProcessSession* session = nullptr;  ///< this process as one rank: of Transport::mpi, and of nccl
  /// Of Transport::nccl without a session: what a rank's thread makes its groups with.
  std::function<std::shared_ptr<GroupMaker>(std::int32_t rank)> groups = {};
  std::chrono::milliseconds deadline{25'000};  ///< that a rank waits for another one in a call
};

/// What a rank computes on.
struct DeviceOptions {
  ComputeBackend backend = ComputeBackend::cpu;                                ///< as the record names it
  std::function<std::unique_ptr<ComputeDevice>(std::int32_t rank)> make = {};  ///< empty: the CPU
  LaneThreads lanes = LaneThreads::none;  ///< of the CPU: whether gathers and reductions run alongside the blocks
  /// `graph`: of one rank, whose device records graphs; InputError otherwise.
  StepLaunch launch = StepLaunch::calls;
  /// By stage: what the plan predicts of its memory, as text behind an error of a device without room; empty: nothing.
  std::vector<std::string> predicted_memory = {};
};

/// How the trained network goes on with a text.
struct Generation {
  std::vector<std::int32_t> prompt;
  std::int64_t tokens = 0;  ///< 0: none
  double temperature = 0;   ///< 0: always the most likely token
};

/// What the network is tried on, of the data held out, and when that ends the run.
struct EvaluationOptions {
  std::int64_t every = 0;      ///< steps between held-out losses; 0: after the last step alone
  std::int64_t patience = 0;   ///< held-out losses that may not improve, and the run ends; 0: any
  Generation generation = {};  ///< after the last step
};

struct CheckpointOptions {
  std::filesystem::path folder;             ///< to write to; empty: none
  std::int64_t every = 0;                   ///< steps; 0: after the last, if there is a folder
  std::filesystem::path resume;             ///< a step's folder, or a folder of them (the latest); empty: step 0
  std::vector<std::string> overrides = {};  ///< settings that may be others than the resumed checkpoint's
};

/// What tests alone ask for.
struct TestOptions {
  Poison poison = Poison::no;       ///< memory that nobody has written holds NaN
  bool strict_buffers = false;      ///< refuse what does not fit the program's buffers
  ExecutionProbe* probe = nullptr;  ///< null: nobody looks
};

struct RunOptions {
  std::int64_t steps = 1;         ///< that this run takes, from step 0 or the one behind the resumed checkpoint
  std::int32_t warmup_steps = 0;  ///< not timed
  std::uint64_t seed = 0;
  TokenSource data;                 ///< tokens below the network's vocabulary
  StoredData data_source = {};      ///< what `data` was read from, for checkpoints
  FirstWeights first_weights = {};  ///< empty: drawn from the seed (parameter_init.h)
  Initialisation initialisation = Initialisation::normal;
  RankOptions ranks = {};
  DeviceOptions device = {};
  EvaluationOptions evaluation = {};
  CheckpointOptions checkpoints = {};
  RunObserver* observer = nullptr;  ///< null: nobody hears of the run
  TestOptions tests = {};
};

}  // namespace plumbline
