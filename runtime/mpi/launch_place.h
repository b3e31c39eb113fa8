#pragma once
/// \file launch_place.h: which rank this process is, as the launcher's environment variables say.
///
/// Model: the innermost launcher counts: torchrun (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE), then OpenMPI's
/// mpirun (OMPI_COMM_WORLD_RANK, ...), then a Slurm step (SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID), then the
/// mpiexec of MPICH and its kin (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID): torchrun and mpirun run inside Slurm jobs, whose
/// variables they pass on as they were, and a Slurm step may set those of PMI too. Source: PyTorch's documentation of
/// torchrun; OpenMPI's FAQ on running jobs; Slurm's srun(1), output variables; MPICH's Hydra, "environment variables".
/// Not modelled: host names, addresses and ports. Checked against: tests/runtime/mpi/launch_place_test.cpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace plumbline {

struct LaunchPlace {
  std::string launcher;  ///< "torchrun", "mpirun", "Slurm", "mpiexec"
  std::int32_t rank = 0;
  std::int32_t ranks = 1;
  std::int32_t local_rank = 0;  ///< among those of its node
  bool operator==(const LaunchPlace&) const = default;
};

/// The value of an environment variable, or none when it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

/// None when no launcher's variables are set. Throws InputError for values that are no numbers, ranks out of range, and
/// sets of which a part is missing.
[[nodiscard]] std::optional<LaunchPlace> launch_place(const EnvironmentLookup& lookup);

/// The place among several processes that one launcher started together; none for a process on its own, and where the
/// variables are incomplete (others use RANK as well). Never throws.
[[nodiscard]] std::optional<LaunchPlace> launched_with_others(const EnvironmentLookup& lookup);

/// Throws InputError when `place` is another rank, or among another number of ranks, than `told_by` ("MPI") says.
void check_place(const LaunchPlace& place, const std::string& told_by, std::int32_t rank, std::int32_t ranks);

}  // namespace plumbline
