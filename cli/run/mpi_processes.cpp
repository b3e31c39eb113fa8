#include "cli/run/mpi_processes.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "cli/failure.h"
#include "core/base/errors.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {
namespace {

std::string place_before_work() {
  const auto place = launch_place(process_environment);
  return place ? "rank " + std::to_string(place->rank) + " before its first step" : "rank 0 before its first step";
}

/// A job that is being ended has a cause elsewhere, and says it there.
ExitCode as_watched(const ProcessEnd& end, const SharedNote& note) {
  if (end.signal == 0) return static_cast<ExitCode>(end.exit_code);
  if (end.was_asked_to) {
    std::signal(SIGTERM, SIG_DFL);
    std::raise(SIGTERM);
  }
  throw EnvironmentError(std::string(note.text()) + ": its process was ended by signal " + std::to_string(end.signal) +
                         " (" + ::strsignal(end.signal) + ")");
}

}  // namespace

void require_session_of_launch() {
  const auto place = launched_with_others(process_environment);
  if (!place) return;
  const bool is_torchrun = place->launcher == "torchrun";
  if (MpiSession::is_built() && !is_torchrun) return;
  throw InputError({"--ranks",
                    place->launcher + " started " + std::to_string(place->ranks) +
                        (is_torchrun ? " processes, which MPI does not join" : " processes, and this build has no MPI"),
                    std::string(is_torchrun ? "mpirun or srun" : "a build with MPI (PLUMBLINE_MPI=ON)") +
                        ", or --ranks local for a run of its own in each process",
                    ""});
}

ExitCode run_as_mpi_rank(const std::function<ExitCode(const MpiRank&)>& work) {
  if (!MpiSession::is_built())
    throw InputError({"--ranks", "\"mpi\" is not in this build", "local, or a build with MPI (PLUMBLINE_MPI=ON)", ""});
  static SharedNote note(place_before_work());  // a signal handler may read it until the process ends
  if (const auto end = fork_and_watch(note)) return as_watched(*end, note);
  Interruption interruption(std::nullopt, ::getppid());  // before MPI starts its threads
  MpiSession session;
  try {
    const ExitCode code = work({session, note, interruption});
    interruption.ignore_signals();  // before MPI waits for all ranks, so that all ignore them when the first ends
    return code;
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    session.fail(failure.line, static_cast<int>(failure.code), [&] { print_failure(failure); });
  }
}

}  // namespace plumbline
