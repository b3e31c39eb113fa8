#pragma once
/// \file mpi_processes.h: the processes of an MPI job, of which one speaks.

#include <functional>

#include "cli/verb.h"
#include "runtime/mpi/mpi_session.h"
#include "runtime/watched_process.h"

namespace plumbline {

/// Runs `work` in a process of its own that is watched (runtime/watched_process.h), as a rank of an MPI job. A failure
/// of any rank ends all processes with its exit code and one line of one of them. `work` writes to the note where it
/// is. Throws what happens before the session stands, EnvironmentError when the working process was killed.
ExitCode run_as_mpi_rank(const std::function<ExitCode(MpiSession&, SharedNote&)>& work);

}  // namespace plumbline
