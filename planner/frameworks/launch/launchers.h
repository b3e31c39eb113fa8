#pragma once
/// \file launchers.h: the lines that start one process per GPU: torchrun, Slurm, a Kubeflow PyTorchJob.
///
/// Shared by all targets: a target says which Python program runs with which arguments, here is how it is started.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_target.h"

namespace plumbline {

/// Of a container of a PyTorchJob, behind its resources, and of its pod.
inline constexpr std::string_view shared_memory_volume =
    "              volumeMounts:\n                - name: shared-memory\n                  mountPath: /dev/shm\n"
    "          volumes:\n            - name: shared-memory  # the default of 64 MiB is too small for NCCL\n"
    "              emptyDir:\n                medium: Memory\n";

/// How often torchrun starts the processes of a node again: as often as PyTorch's examples of elastic training
/// (docs/source/elastic/quickstart.rst).
inline constexpr std::int64_t most_restarts = 3;
/// Whether a run that fails may be started again: where it goes on from a checkpoint, not from its beginning.
[[nodiscard]] bool can_restart(const LaunchSettings& settings);
/// Of a replica of a PyTorchJob.
[[nodiscard]] std::string_view restart_policy(const LaunchSettings& settings);

/// Of the environment of each process.
struct LaunchVariable {
  std::string_view name;
  std::string value;
};

/// What runs on each GPU.
struct LaunchedProgram {
  std::string script;                  ///< "train.py", or "-m MODULE"
  std::vector<std::string> arguments;  ///< as words; printed one per line, quoted where the shell needs it
  std::string name;                    ///< of the job: letters, digits and '-'
  std::vector<LaunchVariable> environment = {};
};

/// launch.sh (torchrun; one node, or NODE_RANK and MASTER_ADDR), job.slurm (sbatch), job.yaml (Kubeflow PyTorchJob).
/// `settings` has `devices`, and `nodes` and `devices_per_node` where known (else nodes of 8, or one).
[[nodiscard]] std::vector<LaunchFile> launcher_files(const LaunchedProgram& program, const LaunchSettings& settings);

}  // namespace plumbline
