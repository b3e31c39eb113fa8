#pragma once
/// \file mpi_processes.h: the processes of an MPI job, of which one speaks.

#include <functional>

#include "cli/interruption.h"
#include "cli/verb.h"
#include "runtime/mpi/mpi_session.h"
#include "runtime/run/watched_process.h"

namespace plumbline {

/// What a rank's process works with.
struct MpiRank {
  MpiSession& session;
  SharedNote& note;  ///< where it writes where it is
  const Interruption& interruption;
};

/// Throws InputError when a launcher started several processes that cannot be ranks of one run: those of torchrun, and
/// all in a build without MPI.
void require_session_of_launch();

/// Runs `work` in a process of its own that is watched (runtime/run/watched_process.h), as a rank of an MPI job. A
/// failure of any rank ends all processes with its exit code and one line of one of them. Throws what happens before
/// the session lasts, EnvironmentError when the working process was killed.
ExitCode run_as_mpi_rank(const std::function<ExitCode(const MpiRank&)>& work);

}  // namespace plumbline
