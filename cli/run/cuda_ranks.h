#pragma once
/// \file cuda_ranks.h: `run --backend cuda`: the module of CUDA, and what ranks make of it.

#include "cli/output/terminal.h"
#include "runtime/device/device_module.h"
#include "runtime/run/flags/rank_flags.h"

namespace plumbline {

/// Not before the process has forked: a driver does not survive that. Throws EnvironmentError that names the flag.
[[nodiscard]] const DeviceModule& cuda_module();

/// Has ranks compute on the module's devices: all on this process's first one, or over NCCL each on its own. Says which
/// libraries are missing. `options` have their session.
void use_cuda(RunOptions& options, const DeviceModule& module, const RankRole& role, Terminal& terminal);

/// Says which calls the module's libraries refused during the run.
void note_refused_calls(const DeviceModule& module, Terminal& terminal);

}  // namespace plumbline
