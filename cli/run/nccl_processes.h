#pragma once
/// \file nccl_processes.h: a process of torchrun, srun or mpirun as one rank with a GPU of its own; and threads with
/// one each.
///
/// Checked against: tests/cuda/cuda_module_test.py.

#include <functional>
#include <optional>

#include "cli/verb.h"
#include "runtime/device/device_module.h"
#include "runtime/rendezvous/launch_rendezvous.h"
#include "runtime/rendezvous/launched_session.h"

namespace plumbline {

/// Runs `work` as the rank that `place` says. `rendezvous`: --rendezvous. Throws EnvironmentError where NCCL is not
/// there.
[[nodiscard]] ExitCode run_as_nccl_rank(const DeviceModule& module, const LaunchPlace& place,
                                        const std::optional<std::string>& rendezvous,
                                        const std::function<ExitCode(ProcessSession&)>& work);

/// Throws InputError where this process sees fewer devices than there are ranks, EnvironmentError without NCCL.
void require_devices(const DeviceModule& module, std::int64_t ranks);

}  // namespace plumbline
